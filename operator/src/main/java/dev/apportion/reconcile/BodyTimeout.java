package dev.apportion.reconcile;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Gives up answers that stop coming in their midst, watches aside: the timeout of a request covers no more than the head of its
 * answer.
 *
 * @param limit from the head to the end of an answer
 */
record BodyTimeout(Duration limit) implements Interceptor {

    @Override
    public void after(HttpRequest request, HttpResponse<?> response, AsyncBody.Consumer<List<ByteBuffer>> consumer) {
        if (!(response.body() instanceof AsyncBody body)
                || Objects.requireNonNullElse(request.uri().getQuery(), "").contains("watch=true")) {
            return;
        }
        var _ = body.done()
                .copy()
                .orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS)
                .whenComplete((done, failure) -> {
                    if (failure instanceof TimeoutException) {
                        body.done().completeExceptionally(new HttpTimeoutException("no whole answer within " + limit));
                        body.cancel();
                    }
                });
    }
}
