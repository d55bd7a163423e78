/*
 * Preloaded, it gives a process another wall clock: the file that APPORTION_TEST_CLOCK names holds the seconds by which it
 * is ahead, as a signed 64-bit integer. The monotonic clock is left alone. No header is used, so that a bare compiler will
 * do, and no lock: libfaketime's slows a Java process down until it misses its own time limits.
 */
struct timespec {
    long seconds;
    long nanoseconds;
};

extern void *dlsym(void *handle, const char *name);
extern char *getenv(const char *name);
extern int open(const char *path, int flags, ...);
extern void *mmap(void *address, unsigned long length, int protection, int flags, int file, long offset);

static int (*real)(int clock, struct timespec *time);
static volatile const long *ahead;

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("APPORTION_TEST_CLOCK");
    int file = path ? open(path, 0 /* O_RDONLY */) : -1;
    if (file >= 0) {
        void *memory = mmap(0, sizeof(long), 1 /* PROT_READ */, 1 /* MAP_SHARED */, file, 0);
        ahead = memory == (void *) -1 ? 0 : memory;
    }
}

int clock_gettime(int clock, struct timespec *time) {
    if (!real) {
        real = dlsym((void *) -1 /* RTLD_NEXT */, "clock_gettime");
    }
    int result = real(clock, time);
    if (result == 0 && ahead && (clock == 0 /* CLOCK_REALTIME */ || clock == 5 /* CLOCK_REALTIME_COARSE */)) {
        time->seconds += *ahead;
    }
    return result;
}
