/* Runs recorded calls of kernels in an extension module, on musl: loads it as Python does, and is the Python that it finds.
   driver MODULE INIT CALLS RESULTS ROUNDS (see musl.py for the two files). */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- as much of Python as a module asks for: a buffer is a pair of an address and a size -- */
typedef struct { char *data; int64_t size; } Buffer;
char _Py_NoneStruct[64];
static char value_error, import_error;
void *PyExc_ValueError = &value_error, *PyExc_ImportError = &import_error;
int PyObject_GetBuffer(Buffer *of, void **view, int flags) { (void)flags; view[0] = of->data; view[2] = (void *)of->size; return 0; }
void PyBuffer_Release(void *view) { (void)view; }
void *PyEval_SaveThread(void) { return &value_error; }
void PyEval_RestoreThread(void *thread) { (void)thread; }
void Py_IncRef(void *object) { (void)object; }
void PyErr_SetString(void *kind, const char *words) { (void)kind; fprintf(stderr, "%s\n", words); }
void *PyModule_Create2(void *definition, int version) { (void)version; return definition; }
int PyModule_AddStringConstant(void *module, const char *key, const char *value) { (void)module; (void)key; (void)value; return 0; }
void *PyLong_FromVoidPtr(void *number) { return number; }
void *PyThread_allocate_lock(void) { sem_t *lock = malloc(sizeof *lock); sem_init(lock, 0, 1); return lock; }
int PyThread_acquire_lock(void *lock, int wait) { return wait ? !sem_wait(lock) : !sem_trywait(lock); }
void PyThread_release_lock(void *lock) { sem_post(lock); }
struct start { void (*run)(void *); void *with; };
static void *thread(void *start) { struct start s = *(struct start *)start; s.run(s.with); return 0; }
unsigned long PyThread_start_new_thread(void (*run)(void *), void *with) {
  struct start *start = malloc(sizeof *start);
  pthread_t number;
  *start = (struct start){run, with};
  return pthread_create(&number, 0, thread, start) ? (unsigned long)-1 : (unsigned long)number;
}

/* -- the calls -- */
typedef struct { const char *name; void *(*run)(void *, void *); int flags; const char *doc; } Method;
static FILE *in, *out;
static int64_t number(void) { int64_t n = 0; if (fread(&n, 8, 1, in) != 1) exit(10); return n; }
static char *blob(int64_t *size) {
  *size = number();
  char *raw = malloc(*size + 128), *place = (char *)(((uintptr_t)raw + 63) / 64 * 64);
  if (*size && fread(place, 1, *size, in) != (size_t)*size) exit(11);
  return place;
}
static Method *find(Method *methods, const char *name) {
  while (methods->name && strcmp(methods->name, name)) methods++;
  if (!methods->name) { fprintf(stderr, "no %s\n", name); exit(12); }
  return methods;
}
int main(int argc, char **argv) {
  void *library = argc == 6 ? dlopen(argv[1], RTLD_NOW) : 0;
  if (!library) { fprintf(stderr, "%s\n", dlerror()); return 1; }
  char *definition = ((char *(*)(void))dlsym(library, argv[2]))();
  if (!definition) return 2;
  Method *methods = *(Method **)(definition + 64);
  in = fopen(argv[3], "rb"), out = fopen(argv[4], "wb");
  int64_t calls = number(), threads = 0;
  for (int64_t c = 0; c < calls; c++) {
    int64_t size, bytes, sizes[256];
    char *name = blob(&size), *frame = blob(&bytes), *arrays[256], *job = blob(&size);
    int64_t count = number();
    if (count > 256) return 5;
    for (int64_t k = 0; k < count; k++) {
      int64_t at = number();
      arrays[k] = blob(&sizes[k]);
      ((int64_t *)frame)[at] = (int64_t)arrays[k];
    }
    if (size) { /* a job for the pool of threads: again and again, while its workers sleep and spin */
      int64_t *words = (int64_t *)job;
      words[2] = (int64_t)frame;
      words[4] = ((int64_t)malloc(128 * (bytes + 64)) + 63) & -64;
      for (int k = 0; k < atoi(argv[5]); k++) if (!find(methods, "spread")->run(0, &(Buffer){job, size})) return 3;
      threads = (int64_t)find(methods, "workers")->run(0, 0);
    } else if (!find(methods, name)->run(0, &(Buffer){frame, bytes})) return 4;
    fwrite(frame, 1, bytes, out);
    for (int64_t k = 0; k < count; k++) fwrite(arrays[k], 1, sizes[k], out);
  }
  fclose(out);
  printf("%lld %lld\n", (long long)calls, (long long)threads);
  exit(0);
}

/* -- started by the loader itself -- */
int __libc_start_main(int (*)(int, char **), int, char **, void (*)(void), void (*)(void), void (*)(void));
__attribute__((used)) static void begin(long *stack) { __libc_start_main((int (*)(int, char **))main, stack[0], (char **)(stack + 1), 0, 0, 0); }
#ifdef __x86_64__
__asm__(".globl _start\n_start:\n xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call begin\n hlt\n");
#else
__asm__(".globl _start\n_start:\n mov x29, #0\n mov x30, #0\n mov x0, sp\n and sp, x0, #-16\n bl begin\n brk #0\n");
#endif
