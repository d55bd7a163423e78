package dev.apportion.load;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** A stream that refuses to give more than so many octets. */
final class Bounded extends FilterInputStream {

    /** More came than may. */
    static final class TooLargeException extends IOException {

        private static final long serialVersionUID = 1;

        TooLargeException(String message) {
            super(message);
        }
    }

    private final long most;
    private long left;

    Bounded(InputStream in, long most) {
        super(in);
        this.most = most;
        this.left = most;
    }

    @Override
    public int read() throws IOException {
        int octet = super.read();
        if (octet >= 0) {
            count(1);
        }
        return octet;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
        int got = super.read(buffer, offset, length);
        if (got > 0) {
            count(got);
        }
        return got;
    }

    private void count(int octets) throws IOException {
        left -= octets;
        if (left < 0) {
            throw new TooLargeException("it is larger than %d MiB and was cut off".formatted(most >> 20));
        }
    }
}
