package dev.apportion.e2e.kind;

import dev.apportion.e2e.bed.Answer;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.DnsServer;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.Tally;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.xbill.DNS.Message;

/** A pod that asks DNS servers from within the cluster's network, with its own address as the client's. */
public record PodResolver(Kubectl kubectl, String pod) {

    /** @param node where it runs; empty: wherever the scheduler likes */
    static PodResolver start(Kubectl kubectl, String image, String node) {
        kubectl.runWith(manifest(image, node), "apply", "-f", "-").orThrow();
        kubectl.run("wait", "--for=condition=Ready", "pod/resolver", "--timeout=120s")
                .orThrow();
        return new PodResolver(kubectl, "resolver");
    }

    /**
     * Asks, and returns the response.
     *
     * @param server an address, in brackets if it is one of IPv6, and a port
     * @throws UncheckedIOException if none comes in time
     */
    public Answer ask(String server, Question question) {
        return ask(server, List.of(question)).getFirst();
    }

    /** The answers to 256 questions, as {@link DnsServer#slots} asks them. */
    public Tally slots(String server, Question question) {
        List<Question> questions = IntStream.range(0, 256)
                .mapToObj(slot -> question.withId(DnsServer.slotId(slot)))
                .toList();
        return Tally.of(ask(server, questions).stream(), question.type());
    }

    /** Asks several questions one after the other, all as the first one is asked: by UDP or TCP, with its time-out. */
    public List<Answer> ask(String server, List<Question> questions) {
        Question first = questions.getFirst();
        String lines = questions.stream()
                .map(question ->
                        Base64.getEncoder().encodeToString(question.query().toWire()))
                .collect(Collectors.joining("\n", "", "\n"));
        Command.Result result = kubectl.runWith(
                        lines,
                        "exec",
                        "--stdin",
                        pod,
                        "--",
                        "/traffic",
                        "ask",
                        "-server=" + server,
                        "-tcp=" + first.tcp(),
                        "-timeout=" + first.timeout().toMillis() + "ms")
                .orThrow();
        List<String> responses = result.stdout().lines().toList();
        if (responses.size() != questions.size()) {
            throw new AssertionError(questions.size() + " questions had " + responses.size() + " responses: " + result);
        }
        List<Answer> answers = new ArrayList<>();
        for (int i = 0; i < responses.size(); i++) {
            answers.add(answer(server, questions.get(i), responses.get(i)));
        }
        return answers;
    }

    private static Answer answer(String server, Question question, String response) {
        try {
            if (response.startsWith("!")) {
                throw new IOException(response.substring(1).strip());
            }
            return new Answer(new Message(Base64.getDecoder().decode(response)));
        } catch (IOException e) {
            throw new UncheckedIOException("Asking " + server + " " + question + " from a pod", e);
        }
    }

    private static String manifest(String image, String node) {
        return """
            apiVersion: v1
            kind: Pod
            metadata: {name: resolver, labels: {app: resolver}}
            spec:
              terminationGracePeriodSeconds: 1
              nodeName: "%s"
              containers:
              - name: resolver
                image: %s
                args: [wait]
                resources: {requests: {cpu: 10m, memory: 16Mi}}
            """.formatted(node, image);
    }
}
