module apportion.dev/tools/traffic

go 1.26.0
