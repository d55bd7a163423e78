package dev.apportion.e2e.bed;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A reverse proxy on 127.0.0.1 before an API server, which does to requests what networks and overloaded servers do. It speaks HTTP/1.1
 * without TLS, one request for each connection; WebSockets and watches are passed on as they come.
 */
public final class FaultProxy implements AutoCloseable {

    private static final int LONGEST_HEAD = 1 << 16;
    private static final Duration LONGEST_HOLD = Duration.ofMinutes(2);

    private static final String EXPIRED =
            "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"too"
                + " old resource version\",\"reason\":\"Expired\",\"code\":410}}";

    /** What it does with connections. */
    private enum Mode {
        PASSING,
        SILENT,
        REFUSING
    }

    /**
     * A request.
     *
     * @param path without the query
     * @param query as it was sent, empty if there was none
     * @param headers by lower-case name
     * @param nanos when it came, by {@link System#nanoTime}
     */
    public record Request(
            String method, String path, String query, Map<String, String> headers, String body, long nanos) {

        /** Whether it is a watch that stays open; who asks by {@code watch=1} what has changed gets an answer after a second. */
        public boolean isWatch() {
            return method.equals("GET") && query.matches("(.*&)?watch=true(&.*)?");
        }

        /** Whether it reads a whole collection. */
        public boolean isList() {
            return method.equals("GET") && !isWatch() && segments().size() == 1;
        }

        public boolean isLease() {
            return path.startsWith("/apis/coordination.k8s.io/");
        }

        /** Whether it changes anything; the lease of a leader aside. */
        public boolean isWrite() {
            return !method.equals("GET") && !isLease();
        }

        /** The plural name of its resource, such as {@code configmaps}, with the subresource, such as {@code dnszones/status}. */
        public String resource() {
            List<String> segments = segments();
            return segments.size() < 3
                    ? segments.isEmpty() ? "" : segments.getFirst()
                    : segments.getFirst() + "/" + segments.get(2);
        }

        /** The name of the object, empty for a collection. */
        public String name() {
            List<String> segments = segments();
            return segments.size() < 2 ? "" : segments.get(1);
        }

        /** What follows the version and the namespace: a plural name, an object's name, a subresource. */
        private List<String> segments() {
            List<String> parts = List.of(path.substring(1).split("/", -1));
            int from = parts.getFirst().equals("api") ? 2 : 3;
            if (parts.size() > from + 2 && parts.get(from).equals("namespaces")) {
                from += 2;
            }
            return parts.size() <= from ? List.of() : parts.subList(from, parts.size());
        }

        @Override
        public String toString() {
            return method + " " + path + (query.isEmpty() ? "" : "?" + query);
        }
    }

    /** A request and what came of it. */
    public static final class Exchange {

        private final Request request;
        private volatile int code;

        private Exchange(Request request) {
            this.request = request;
        }

        public Request request() {
            return request;
        }

        /** The code of the answer, whether the client saw it or not; zero if there is none, or none yet. */
        public int code() {
            return code;
        }

        @Override
        public String toString() {
            return request + " -> " + code;
        }
    }

    /** What is done with a request. */
    public sealed interface Action {

        /** It reaches the API server, and its answer the client. */
        record Forward() implements Action {}

        /** It is answered here. */
        record Answer(int code, Map<String, String> headers, String body) implements Action {}

        /** A watch is told that what it wants to go on from is too old, so that everything is to be listed again. */
        record Expire() implements Action {}

        /** It waits at a gate first. */
        record Hold(Gate gate, Action then) implements Action {}

        /** Something happens first, before the API server hears of it. */
        record Before(Runnable hook, Action then) implements Action {}

        /** Something happens after the API server has done it and before the client hears of it. */
        record After(Runnable hook) implements Action {}

        /** The connection ends, and the API server never hears of it. */
        record Drop() implements Action {}

        /** The API server does it, and the connection ends without an answer. */
        record DropResponse() implements Action {}

        /** The API server does it, and its answer stops coming shortly before its end. */
        record Stall() implements Action {}
    }

    /** Where requests wait until they are let through. */
    public static final class Gate {

        private final CountDownLatch arrived = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);

        /** Waits until a request has come. */
        public void awaitArrival(Duration atMost) {
            await(arrived, atMost, "no request came");
        }

        /** Lets through who waits and who comes. */
        public void release() {
            released.countDown();
        }

        private void pass() {
            arrived.countDown();
            await(released, LONGEST_HOLD, "nobody let the request through");
        }

        private static void await(CountDownLatch latch, Duration atMost, String otherwise) {
            try {
                if (!latch.await(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
                    throw new AssertionError(otherwise + " within " + atMost);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("Interrupted", e);
            }
        }
    }

    /** A rule that is in force until it is used up or ended. */
    public final class Rule {

        private final Predicate<Request> which;
        private final Action action;
        private final AtomicInteger left;
        private final AtomicInteger hits = new AtomicInteger();

        private Rule(Predicate<Request> which, Action action, int times) {
            this.which = which;
            this.action = action;
            this.left = new AtomicInteger(times);
        }

        private boolean take(Request request) {
            if (!which.test(request) || left.getAndUpdate(count -> Math.max(0, count - 1)) == 0) {
                return false;
            }
            hits.incrementAndGet();
            return true;
        }

        /** How many requests it has met. */
        public int hits() {
            return hits.get();
        }

        public void end() {
            rules.remove(this);
        }
    }

    private final ApiServer server;
    private final InetSocketAddress address;
    private final Path kubeconfig;
    private final List<Rule> rules = new CopyOnWriteArrayList<>();
    private final List<Exchange> exchanges = new CopyOnWriteArrayList<>();
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
    private final Set<Socket> watches = ConcurrentHashMap.newKeySet();
    private final Set<Socket> unheard = ConcurrentHashMap.newKeySet();
    private volatile ServerSocket listener;
    private volatile Mode mode = Mode.PASSING;
    private volatile Duration watchDelay = Duration.ZERO;

    private FaultProxy(ApiServer server) throws IOException {
        this.server = server;
        this.listener = new ServerSocket(0, 0, InetAddress.ofLiteral("127.0.0.1"));
        this.address = new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
        this.kubeconfig = Files.createTempFile("apportion-proxy-", ".kubeconfig");
        Files.writeString(kubeconfig, server.kubeconfig(url()));
        accept(listener);
    }

    /** A proxy before this server; it passes everything on. */
    public static FaultProxy before(ApiServer server) throws IOException {
        return new FaultProxy(server);
    }

    public String url() {
        return "http://127.0.0.1:" + address.getPort();
    }

    /** A kubeconfig file for programs that shall go through this proxy; their user may do everything. */
    public Path kubeconfig() {
        return kubeconfig;
    }

    /** A kubeconfig file like another one, for programs that shall go through this proxy. */
    public Path kubeconfig(Path direct) throws IOException {
        Path file = direct.resolveSibling(direct.getFileName() + "-proxy");
        return Files.writeString(file, Files.readString(direct).replace(server.url(), url()));
    }

    /** Does this with every such request from now on; an earlier rule goes first. */
    public Rule always(Predicate<Request> which, Action action) {
        return next(Integer.MAX_VALUE, which, action);
    }

    /** Does this with the next such requests; an earlier rule goes first. */
    public Rule next(int times, Predicate<Request> which, Action action) {
        Rule rule = new Rule(which, action, times);
        rules.add(rule);
        return rule;
    }

    public void endRules() {
        rules.clear();
    }

    /** The answer of an API server that fails. */
    public static Action.Answer failure(int code, String reason, String message) {
        return failure(code, reason, message, Map.of(), 0);
    }

    /**
     * The answer of an API server that fails.
     *
     * @param headers such as {@code Retry-After}
     * @param retryAfterSeconds what the details say of the same; zero for nothing
     */
    public static Action.Answer failure(
            int code, String reason, String message, Map<String, String> headers, int retryAfterSeconds) {
        String details = retryAfterSeconds == 0 ? "" : ",\"details\":{\"retryAfterSeconds\":" + retryAfterSeconds + "}";
        return new Action.Answer(
                code,
                headers,
                "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"%s\",\"reason\":\"%s\"%s,\"code\":%d}"
                        .formatted(message, reason, details, code));
    }

    /** Every request so far, watches and leases among them, in the order in which they came. */
    public List<Exchange> exchanges() {
        return List.copyOf(exchanges);
    }

    /** The requests so far that wanted to change something; leases aside. */
    public List<Exchange> writes() {
        return exchanges.stream()
                .filter(exchange -> exchange.request().isWrite())
                .toList();
    }

    public void forgetRequests() {
        exchanges.clear();
    }

    /** How many watches are open. */
    public int openWatches() {
        return watches.size();
    }

    /** Ends every watch that is open. */
    public void cutWatches() {
        watches.forEach(FaultProxy::closeQuietly);
    }

    /** From now on what watches tell comes late. */
    public void delayWatches(Duration delay) {
        watchDelay = delay;
    }

    /** The API server is gone: connections end and are refused. */
    public void refuse() {
        mode = Mode.REFUSING;
        closeQuietly(listener);
        connections.forEach(FaultProxy::closeQuietly);
    }

    /** The network swallows everything: connections are accepted, and nothing is said any more. */
    public void fallSilent() {
        mode = Mode.SILENT;
    }

    /** Everything passes again. What was sent into the silence is lost. */
    public void comeBack() throws IOException {
        Mode before = mode;
        mode = Mode.PASSING;
        unheard.forEach(FaultProxy::closeQuietly);
        if (before == Mode.REFUSING) {
            ServerSocket again = new ServerSocket();
            again.setReuseAddress(true);
            again.bind(address);
            listener = again;
            accept(again);
        }
    }

    @Override
    public void close() throws IOException {
        refuse();
        Files.deleteIfExists(kubeconfig);
    }

    private void accept(ServerSocket from) {
        Thread.ofVirtual().name("fault proxy").start(() -> {
            while (!from.isClosed()) {
                try {
                    Socket client = from.accept();
                    Thread.ofVirtual().start(() -> serve(client));
                } catch (IOException closed) {
                    return;
                }
            }
        });
    }

    private void serve(Socket client) {
        connections.add(client);
        try (client) {
            client.setTcpNoDelay(true);
            if (mode == Mode.SILENT) {
                unheard.add(client);
                client.getInputStream().transferTo(OutputStream.nullOutputStream());
                return;
            }
            if (mode == Mode.PASSING) {
                Head head = Head.read(client.getInputStream());
                Request request = request(head, client.getInputStream());
                Exchange exchange = new Exchange(request);
                exchanges.add(exchange);
                act(action(request), exchange, client);
            }
        } catch (IOException ended) {
            // Either side may leave at any time; the test sees what came of it.
        } finally {
            connections.remove(client);
            unheard.remove(client);
        }
    }

    private Action action(Request request) {
        return rules.stream()
                .filter(rule -> rule.take(request))
                .map(rule -> rule.action)
                .findFirst()
                .orElseGet(Action.Forward::new);
    }

    private void act(Action action, Exchange exchange, Socket client) throws IOException {
        switch (action) {
            case Action.Forward() -> forward(exchange, client);
            case Action.Answer answer -> answer(exchange, answer, client);
            case Action.Expire() -> expire(exchange, client);
            case Action.Hold(Gate gate, Action then) -> {
                gate.pass();
                act(then, exchange, client);
            }
            case Action.Before(Runnable hook, Action then) -> {
                hook.run();
                act(then, exchange, client);
            }
            case Action.After(Runnable hook) -> {
                byte[] response = done(exchange);
                hook.run();
                client.getOutputStream().write(response);
            }
            case Action.Drop() -> {}
            case Action.DropResponse() -> done(exchange);
            case Action.Stall() -> {
                byte[] response = done(exchange);
                client.getOutputStream().write(response, 0, response.length - 2);
                client.getInputStream().transferTo(OutputStream.nullOutputStream());
            }
        }
    }

    private static void answer(Exchange exchange, Action.Answer answer, Socket client) throws IOException {
        exchange.code = answer.code();
        byte[] body = answer.body().getBytes(UTF_8);
        StringBuilder head = new StringBuilder("HTTP/1.1 " + answer.code() + " Said by the proxy\r\n");
        answer.headers().forEach((name, value) -> head.append(name + ": " + value + "\r\n"));
        head.append(
                "Content-Type: application/json\r\nConnection: close\r\nContent-Length: " + body.length + "\r\n\r\n");
        OutputStream out = client.getOutputStream();
        out.write(head.toString().getBytes(ISO_8859_1));
        out.write(body);
        out.flush();
    }

    private static void expire(Exchange exchange, Socket client) throws IOException {
        String key = exchange.request().headers().get("sec-websocket-key");
        if (key == null) {
            answer(exchange, new Action.Answer(200, Map.of(), EXPIRED + "\n"), client);
            return;
        }
        exchange.code = 101;
        byte[] event = EXPIRED.getBytes(UTF_8);
        OutputStream out = client.getOutputStream();
        out.write(("HTTP/1.1 101 Switching Protocols\r\n"
                        + "Upgrade: websocket\r\n"
                        + "Connection: Upgrade\r\n"
                        + "Sec-WebSocket-Accept: "
                        + accepted(key) + "\r\n\r\n")
                .getBytes(ISO_8859_1));
        // One text frame with a length of two bytes.
        out.write(new byte[] {(byte) 0x81, 126, (byte) (event.length >> 8), (byte) event.length});
        out.write(event);
        out.flush();
        client.getInputStream().transferTo(OutputStream.nullOutputStream());
    }

    /** RFC 6455, section 4.2.2. */
    private static String accepted(String key) {
        try {
            MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
            return Base64.getEncoder()
                    .encodeToString(sha1.digest((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").getBytes(ISO_8859_1)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-1", e);
        }
    }

    /** Has the API server do it, and returns its whole answer. */
    private byte[] done(Exchange exchange) throws IOException {
        try (Socket upstream = server.connect()) {
            send(exchange.request(), upstream);
            Head head = Head.read(upstream.getInputStream());
            ByteArrayOutputStream response = new ByteArrayOutputStream();
            response.write(head.bytes());
            upstream.getInputStream().transferTo(response);
            exchange.code = head.code();
            return response.toByteArray();
        }
    }

    private void forward(Exchange exchange, Socket client) throws IOException {
        Request request = exchange.request();
        try (Socket upstream = server.connect()) {
            connections.add(upstream);
            if (request.isWatch()) {
                watches.add(client);
            }
            send(request, upstream);
            if (request.headers().containsKey("sec-websocket-key")) {
                Thread.ofVirtual().start(() -> pipe(client, upstream));
            } else {
                // Nothing more is to come: the end means that the client has left.
                Thread.ofVirtual().start(() -> closeAtEnd(client, upstream));
            }
            Head head = Head.read(upstream.getInputStream());
            exchange.code = head.code();
            OutputStream out = client.getOutputStream();
            out.write(head.bytes());
            if (request.isWatch()) {
                late(upstream.getInputStream(), out);
            } else {
                copy(upstream.getInputStream(), out);
            }
            connections.remove(upstream);
        } finally {
            watches.remove(client);
        }
    }

    private static void closeAtEnd(Socket client, Socket upstream) {
        try {
            client.getInputStream().transferTo(OutputStream.nullOutputStream());
        } catch (IOException ended) {
            // the same as an orderly end
        }
        closeQuietly(upstream);
    }

    private void pipe(Socket from, Socket to) {
        try {
            copy(from.getInputStream(), to.getOutputStream());
        } catch (IOException ended) {
            // the other direction ends with it
        }
        closeQuietly(to);
    }

    private void copy(InputStream from, OutputStream to) throws IOException {
        byte[] buffer = new byte[1 << 14];
        for (int length = from.read(buffer); length >= 0; length = from.read(buffer)) {
            awaitSound();
            to.write(buffer, 0, length);
            to.flush();
        }
    }

    private void awaitSound() {
        while (mode == Mode.SILENT) {
            LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
        }
    }

    /**
     * What a watch tells.
     *
     * @param bytes one character for each byte; empty at the end
     * @param due when it is to be passed on, by {@link System#nanoTime}
     */
    private record Late(String bytes, long due) {}

    /** Copies while more is read, so that each part is as late as the others. */
    private void late(InputStream from, OutputStream to) throws IOException {
        BlockingQueue<Late> parts = new LinkedBlockingQueue<>();
        Thread.ofVirtual().start(() -> {
            byte[] buffer = new byte[1 << 14];
            try {
                for (int length = from.read(buffer); length >= 0; length = from.read(buffer)) {
                    parts.add(new Late(
                            new String(buffer, 0, length, ISO_8859_1), System.nanoTime() + watchDelay.toNanos()));
                }
            } catch (IOException ended) {
                // as an orderly end
            }
            parts.add(new Late("", System.nanoTime()));
        });
        try {
            for (Late part = parts.take(); !part.bytes().isEmpty(); part = parts.take()) {
                for (long left = part.due() - System.nanoTime(); left > 0; left = part.due() - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                awaitSound();
                to.write(part.bytes().getBytes(ISO_8859_1));
                to.flush();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void send(Request request, Socket upstream) throws IOException {
        boolean webSocket = request.headers().containsKey("sec-websocket-key");
        StringBuilder head = new StringBuilder(request.method() + " " + request.path()
                + (request.query().isEmpty() ? "" : "?" + request.query()) + " HTTP/1.1\r\n");
        request.headers().forEach((name, value) -> {
            if (!HOP_BY_HOP.contains(name)) {
                head.append(name + ": " + value + "\r\n");
            }
        });
        head.append(webSocket ? "connection: Upgrade\r\nupgrade: websocket\r\n" : "connection: close\r\n");
        byte[] body = request.body().getBytes(UTF_8);
        if (body.length > 0 || !request.method().equals("GET")) {
            head.append("content-length: " + body.length + "\r\n");
        }
        head.append("\r\n");
        OutputStream out = upstream.getOutputStream();
        out.write(head.toString().getBytes(ISO_8859_1));
        out.write(body);
        out.flush();
    }

    /** RFC 9110, section 7.6.1, and what is said anew for the other side. */
    private static final Set<String> HOP_BY_HOP = Set.of(
            "connection", "upgrade", "http2-settings", "keep-alive", "te", "transfer-encoding", "content-length");

    private static Request request(Head head, InputStream in) throws IOException {
        List<String> line = List.of(head.lines().getFirst().split(" ", -1));
        Map<String, String> headers = head.lines().stream()
                .skip(1)
                .collect(Collectors.toMap(
                        header -> header.substring(0, header.indexOf(':')).toLowerCase(Locale.ROOT),
                        header -> header.substring(header.indexOf(':') + 1).strip(),
                        (first, second) -> first + ", " + second,
                        TreeMap::new));
        URI target = URI.create(line.get(1));
        return new Request(
                line.getFirst(),
                target.getRawPath(),
                Objects.requireNonNullElse(target.getRawQuery(), ""),
                headers,
                body(headers, in),
                System.nanoTime());
    }

    private static String body(Map<String, String> headers, InputStream in) throws IOException {
        if (headers.getOrDefault("transfer-encoding", "").contains("chunked")) {
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            for (int length = chunk(in); length > 0; length = chunk(in)) {
                body.write(in.readNBytes(length));
                line(in);
            }
            line(in);
            return body.toString(UTF_8);
        }
        int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
        return new String(in.readNBytes(length), UTF_8);
    }

    private static int chunk(InputStream in) throws IOException {
        return Integer.parseInt(line(in).split(";", 2)[0].strip(), 16);
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException();
            }
            line.append((char) next);
        }
        return line.toString().stripTrailing();
    }

    private static void closeQuietly(@Nullable Closeable what) {
        try {
            if (what != null) {
                what.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Closing " + what, e);
        }
    }

    /** What precedes the body of a message. */
    private record Head(String text) {

        static Head read(InputStream in) throws IOException {
            StringBuilder head = new StringBuilder();
            while (!(head.length() > 3 && head.substring(head.length() - 4).equals("\r\n\r\n"))) {
                int next = in.read();
                if (next < 0 || head.length() > LONGEST_HEAD) {
                    throw new EOFException();
                }
                head.append((char) next);
            }
            return new Head(head.toString());
        }

        byte[] bytes() {
            return text.getBytes(ISO_8859_1);
        }

        List<String> lines() {
            return new ArrayList<>(text.lines().filter(line -> !line.isEmpty()).toList());
        }

        int code() {
            return Integer.parseInt(lines().getFirst().split(" ", 3)[1]);
        }
    }
}
