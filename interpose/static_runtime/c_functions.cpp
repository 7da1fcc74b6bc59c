// What libsluice-audit.so needs of a C library, so that the dynamic linker does not give it one of
// its own in every process: that would cost more than all that it does. Each function is C's or the
// system's of its name, as far as it is used here, and leaves errno alone. Compiled without
// builtins: a loop here must not become a call of the function that it makes up.
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <emmintrin.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if !defined(__clang__)
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

extern "C" void* __libc_stack_end;  // the dynamic linker's: where the kernel put the arguments

namespace {

// call() is a system call; -1 where it fails.
template <class... Taken>
long call(long number, Taken... taken) {
  const long given[6] = {(long)taken...};
  long result = number;
  register long fourth asm("r10") = given[3];
  register long fifth asm("r8") = given[4];
  register long sixth asm("r9") = given[5];
  asm volatile("syscall"
               : "+a"(result)
               : "D"(given[0]), "S"(given[1]), "d"(given[2]), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result < 0 && result > -4096 ? -1 : result;
}

// Block stands before memory that realloc() gave.
struct alignas(16) Block {
  size_t size;  // with this
};

// Line is a text that snprintf() is writing: what has no room is counted alone.
struct Line {
  char* text;
  size_t room;  // the end's zero included
  size_t length = 0;

  void add(const char* part, size_t size) {
    for (size_t i = 0; i < size; ++i, ++length) {
      if (length + 1 < room) text[length] = part[i];
    }
  }
  void add_number(size_t number) {
    char digits[24];
    size_t first = sizeof digits;
    do {
      digits[--first] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    add(digits + first, sizeof digits - first);
  }
};

}  // namespace

extern "C" {

void* memcpy(void* __restrict to, const void* __restrict from, size_t size) {
  void* place = to;
  asm volatile("rep movsb" : "+D"(place), "+S"(from), "+c"(size) : : "memory");
  return to;
}

void* memmove(void* to, const void* from, size_t size) {
  if (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from) >= size)
    return memcpy(to, from, size);
  for (size_t i = size; i > 0; --i)
    static_cast<char*>(to)[i - 1] = static_cast<const char*>(from)[i - 1];
  return to;
}

void* memset(void* to, int value, size_t size) {
  void* place = to;
  asm volatile("rep stosb" : "+D"(place), "+c"(size) : "a"(value) : "memory");
  return to;
}

int memcmp(const void* a, const void* b, size_t size) {
  const auto* const first = static_cast<const unsigned char*>(a);
  const auto* const second = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < size; ++i) {
    if (first[i] != second[i]) return first[i] - second[i];
  }
  return 0;
}

// C++ has two of these by one name.
const void* find_byte(const void* bytes, int wanted, size_t size) asm("memchr");
const void* find_byte(const void* bytes, int wanted, size_t size) {
  const auto* const text = static_cast<const char*>(bytes);
  for (size_t i = 0; i < size; ++i) {
    if (text[i] == static_cast<char>(wanted)) return text + i;
  }
  return nullptr;
}

const char* find_last(const char* text, int wanted) asm("strrchr");
const char* find_last(const char* text, int wanted) {
  for (size_t i = strlen(text) + 1; i > 0; --i) {
    if (text[i - 1] == static_cast<char>(wanted)) return text + i - 1;
  }
  return nullptr;
}

// Tables of names are large and full of underscores: sixteen places are looked at at once, for the
// first byte and the last.
void* memmem(const void* bytes, size_t size, const void* wanted, size_t length) {
  const auto* const text = static_cast<const char*>(bytes);
  const auto* const word = static_cast<const char*>(wanted);
  if (length == 0) return const_cast<char*>(text);
  if (size < length) return nullptr;
  const __m128i first = _mm_set1_epi8(word[0]), last = _mm_set1_epi8(word[length - 1]);
  size_t place = 0;
  for (; place + length + 15 <= size; place += 16) {
    const auto load = [&](size_t at) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at));
    };
    const __m128i both = _mm_and_si128(_mm_cmpeq_epi8(load(place), first),
                                       _mm_cmpeq_epi8(load(place + length - 1), last));
    for (unsigned left = _mm_movemask_epi8(both); left != 0; left &= left - 1) {
      const char* const at = text + place + __builtin_ctz(left);
      if (memcmp(at, word, length) == 0) return const_cast<char*>(at);
    }
  }
  for (; place + length <= size; ++place) {
    if (memcmp(text + place, word, length) == 0) return const_cast<char*>(text + place);
  }
  return nullptr;
}

size_t strnlen(const char* text, size_t most) {
  size_t length = 0;
  while (length < most && text[length] != '\0')
    ++length;
  return length;
}

size_t strlen(const char* text) {
  return strnlen(text, SIZE_MAX);
}

int strncmp(const char* a, const char* b, size_t most) {
  size_t i = 0;
  while (i < most && a[i] == b[i] && a[i] != '\0')
    ++i;
  return i == most ? 0 : static_cast<unsigned char>(a[i]) - static_cast<unsigned char>(b[i]);
}

int strcmp(const char* a, const char* b) {
  return strncmp(a, b, SIZE_MAX);
}

int open(const char* path, int flags, ...) {
  return static_cast<int>(call(SYS_open, path, flags));
}
int close(int file) {
  return static_cast<int>(call(SYS_close, file));
}
int access(const char* path, int mode) noexcept {
  return static_cast<int>(call(SYS_access, path, mode));
}
int stat(const char* path, struct stat* status) noexcept {
  return static_cast<int>(call(SYS_stat, path, status));
}
int fstat(int file, struct stat* status) noexcept {
  return static_cast<int>(call(SYS_fstat, file, status));
}
ssize_t write(int file, const void* bytes, size_t size) {
  return call(SYS_write, file, bytes, size);
}
ssize_t pread(int file, void* bytes, size_t size, off_t offset) {
  return call(SYS_pread64, file, bytes, size, offset);
}
ssize_t readlink(const char* path, char* target, size_t size) noexcept {
  return call(SYS_readlink, path, target, size);
}
void* mmap(void* place, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  return reinterpret_cast<void*>(call(SYS_mmap, place, size, protection, flags, file, offset));
}
int munmap(void* place, size_t size) noexcept {
  return static_cast<int>(call(SYS_munmap, place, size));
}
int mprotect(void* place, size_t size, int protection) noexcept {
  return static_cast<int>(call(SYS_mprotect, place, size, protection));
}

// `real` has room for PATH_MAX.
char* realpath(const char* path, char* real) noexcept {
  const int file = open(path, O_PATH | O_CLOEXEC);
  if (file < 0) return nullptr;
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, real, 4095);
  close(file);
  if (length <= 0) return nullptr;
  real[length] = '\0';
  return real;
}

// What the process began with, as it is for a C library that was just loaded.
char* getenv(const char* name) noexcept {
  const auto* const stack = static_cast<const intptr_t*>(__libc_stack_end);
  auto* const* variable = reinterpret_cast<char* const*>(stack + 1 + stack[0] + 1);
  const size_t length = strlen(name);
  for (; *variable != nullptr; ++variable) {
    if (strncmp(*variable, name, length) == 0 && (*variable)[length] == '=')
      return *variable + length + 1;
  }
  return nullptr;
}

void free(void* memory) noexcept {
  if (memory == nullptr) return;
  Block* const block = static_cast<Block*>(memory) - 1;
  munmap(block, block->size);
}

// Whole pages each time: little is asked for, and rarely.
void* realloc(void* memory, size_t size) noexcept {
  size += sizeof(Block);
  Block* const old = memory == nullptr ? nullptr : static_cast<Block*>(memory) - 1;
  void* const got =
      old == nullptr
          ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
          : reinterpret_cast<void*>(call(SYS_mremap, old, old->size, size, MREMAP_MAYMOVE));
  if (got == MAP_FAILED) return nullptr;
  auto* const block = static_cast<Block*>(got);
  block->size = size;
  return block + 1;
}

// It knows %s, %.*s, %d of what is not negative, and %zu.
int snprintf(char* text, size_t room, const char* format, ...) noexcept {
  va_list taken;
  va_start(taken, format);
  Line line{text, room};
  for (; *format != '\0'; ++format) {
    const auto is = [format](const char* what) { return strncmp(format, what, strlen(what)) == 0; };
    if (is("%s")) {
      const char* const part = va_arg(taken, const char*);
      line.add(part, strlen(part));
      format += 1;
    } else if (is("%.*s")) {
      const auto most = static_cast<size_t>(va_arg(taken, int));
      const char* const part = va_arg(taken, const char*);
      line.add(part, strnlen(part, most));
      format += 3;
    } else if (is("%d")) {
      line.add_number(static_cast<size_t>(va_arg(taken, int)));
      format += 1;
    } else if (is("%zu")) {
      line.add_number(va_arg(taken, size_t));
      format += 2;
    } else {
      line.add(format, 1);
    }
  }
  va_end(taken);
  if (room > 0) text[line.length < room ? line.length : room - 1] = '\0';
  return static_cast<int>(line.length);
}

}  // extern "C"
