package dev.apportion.e2e.bed;

/** A program that the tests need is neither there nor can it be built; the message says what to do about it. */
public final class ToolUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ToolUnavailableException(String message) {
        super(message);
    }
}
