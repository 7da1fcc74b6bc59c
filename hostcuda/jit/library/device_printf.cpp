#include "hostcuda/jit/library/device_printf.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string_view>

#include "base/number/divide_up.hpp"

namespace sluice::hostcuda::jit {
namespace {

constexpr size_t most_kept = 1 << 20;
constexpr std::string_view flags_and_digits = "-+ #0123456789.";

// Output is leaked on purpose: exit handlers of a program may still synchronise.
struct Output {
  std::mutex mutex;
  std::string text;
  std::atomic<bool> is_empty{true};
};

Output& output() {
  static auto* kept = new Output;
  return *kept;
}

void write_to_stdout(const std::string& text) {
  const int saved = errno;
  std::fwrite(text.data(), 1, text.size(), stdout);
  errno = saved;
}

// Arguments reads the packed arguments one after the other.
class Arguments {
 public:
  explicit Arguments(const std::byte* begin) : begin_(begin) {}

  template <class T>
  T next() {
    offset_ = round_up(offset_, sizeof(T));
    T value{};
    if (begin_ != nullptr) std::memcpy(&value, begin_ + offset_, sizeof(T));
    offset_ += sizeof(T);
    ++count_;
    return value;
  }
  int count() const { return count_; }

 private:
  const std::byte* begin_;
  size_t offset_ = 0;
  int count_ = 0;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
template <class T>
void append_formatted(std::string& text, const std::string& conversion, T value) {
  const int length = std::snprintf(nullptr, 0, conversion.c_str(), value);
  if (length <= 0) return;
  const size_t old = text.size();
  text.resize(old + static_cast<size_t>(length) + 1);
  std::snprintf(text.data() + old, static_cast<size_t>(length) + 1, conversion.c_str(), value);
  text.pop_back();
}
#pragma GCC diagnostic pop

// One conversion, from behind its '%' on: flags, width, precision, size and type.
class Conversion {
 public:
  Conversion(const char*& at, Arguments& arguments) : arguments_(arguments) {
    while (*at != 0 && (flags_and_digits.find(*at) != std::string_view::npos || *at == '*')) {
      take(*at++);
    }
    while (*at == 'h' || *at == 'l' || *at == 'L' || *at == 'z' || *at == 'j' || *at == 't') {
      is_wide_ |= *at != 'h' && *at != 'L';
      narrow_ += *at == 'h';
      ++at;
    }
    type_ = *at;
    if (type_ != 0) ++at;
  }

  void append_to(std::string& text) {
    switch (type_) {
      case 'd':
      case 'i':
        return append_formatted(text, text_ + "ll" + type_, signed_argument());
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return append_formatted(text, text_ + "ll" + type_, unsigned_argument());
      case 'c':
        return append_formatted(text, text_ + 'c', arguments_.next<int32_t>());
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        return append_formatted(text, text_ + type_, arguments_.next<double>());
      case 'p':
        return append_formatted(text, text_ + 'p', arguments_.next<const void*>());
      case 's': {
        const auto* string = arguments_.next<const char*>();
        return append_formatted(text, text_ + 's', string != nullptr ? string : "(null)");
      }
      case '%':
        text += '%';
        return;
      default:
        // As CUDA does, what is no conversion is printed as it stands.
        text += text_;
        if (type_ != 0) text += type_;
    }
  }

 private:
  void take(char character) {
    if (character == '*') {
      text_ += std::to_string(arguments_.next<int32_t>());
    } else {
      text_ += character;
    }
  }

  long long signed_argument() {
    if (is_wide_) return arguments_.next<int64_t>();
    const auto value = arguments_.next<int32_t>();
    if (narrow_ >= 2) return static_cast<int8_t>(value);
    return narrow_ == 1 ? static_cast<int16_t>(value) : value;
  }
  unsigned long long unsigned_argument() {
    if (is_wide_) return arguments_.next<uint64_t>();
    const auto value = arguments_.next<uint32_t>();
    if (narrow_ >= 2) return static_cast<uint8_t>(value);
    return narrow_ == 1 ? static_cast<uint16_t>(value) : value;
  }

  Arguments& arguments_;
  std::string text_ = "%";
  char type_ = 0;
  bool is_wide_ = false;
  int narrow_ = 0;
};

}  // namespace

std::string format_device_text(const char* format, const std::byte* arguments, int* count) {
  Arguments reader(arguments);
  std::string text;
  while (*format != 0) {
    if (*format != '%') {
      text += *format++;
      continue;
    }
    ++format;
    Conversion(format, reader).append_to(text);
  }
  if (count != nullptr) *count = reader.count();
  return text;
}

void append_device_output(const std::string& text) {
  Output& kept = output();
  const std::lock_guard lock(kept.mutex);
  if (kept.text.size() + text.size() > most_kept) {
    write_to_stdout(kept.text);
    kept.text.clear();
  }
  kept.text += text;
  kept.is_empty.store(kept.text.empty());
}

}  // namespace sluice::hostcuda::jit

namespace sluice::hostcuda {

void flush_device_output() {
  jit::Output& kept = jit::output();
  if (kept.is_empty.load()) return;
  const std::lock_guard lock(kept.mutex);
  jit::write_to_stdout(kept.text);
  kept.text.clear();
  kept.is_empty.store(true);
}

}  // namespace sluice::hostcuda
