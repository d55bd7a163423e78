{{- define "apportion.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- /* 50 characters leave room for what is appended. */ -}}
{{- define "apportion.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "apportion.name" . -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "apportion.labels" -}}
app.kubernetes.io/name: {{ include "apportion.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: apportion
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "apportion.operator.selector" -}}
app.kubernetes.io/name: {{ include "apportion.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: operator
{{- end -}}

{{- define "apportion.dns.selector" -}}
app.kubernetes.io/name: {{ include "apportion.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: dns
{{- end -}}

{{- define "apportion.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "apportion.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.create is false, so serviceAccount.name has to name an account that is there" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "apportion.image" -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag }}
{{- end -}}
{{- end -}}

{{- define "apportion.operator.image" -}}
{{- include "apportion.image" (dict "repository" .Values.image.repository "tag" (default .Chart.AppVersion .Values.image.tag) "digest" .Values.image.digest) -}}
{{- end -}}

{{- /* The namespaces that may have zones, as a YAML list. */ -}}
{{- define "apportion.zoneNamespaces" -}}
{{- $zones := .Values.zoneNamespaces | default .Values.namespaces | default (list .Release.Namespace) -}}
{{- if .Values.namespaces -}}
{{- range $zones -}}
{{- if not (has . $.Values.namespaces) -}}
{{- fail (printf "zoneNamespaces has %s, which namespaces lacks: a zone in a namespace that is not watched would never be seen" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $zones -}}
{{- end -}}

{{- /* The rules of a role of files/rbac.yaml: a dict of root and name. */ -}}
{{- define "apportion.rules" -}}
{{- $lease := printf "resourceNames: [%s]" (include "apportion.fullname" .root) -}}
{{- $text := .root.Files.Get "files/rbac.yaml" | replace "resourceNames: [apportion]" $lease -}}
{{- range splitList "\n---\n" $text -}}
{{- $role := fromYaml . -}}
{{- if eq $role.metadata.name $.name -}}
rules:
{{ toYaml $role.rules }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "apportion.subject" -}}
subjects:
- kind: ServiceAccount
  name: {{ include "apportion.serviceAccount" . }}
  namespace: {{ .Release.Namespace }}
{{- end -}}

{{- define "apportion.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- /* Over nodes, and over zones where there are some: a dict of constraints and selector. */ -}}
{{- define "apportion.spread" -}}
{{- if .constraints -}}
{{ toYaml .constraints }}
{{- else -}}
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels: {{- .selector | nindent 6 }}
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels: {{- .selector | nindent 6 }}
{{- end -}}
{{- end -}}

{{- /* Where pods are placed: the values of the operator or of coredns. */ -}}
{{- define "apportion.placement" -}}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
