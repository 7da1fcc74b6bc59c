// A growing array of plain values for code inside the dynamic linker, which does without the
// standard library's own functions.
#pragma once

#include <cstdlib>
#include <type_traits>
#include <utility>

namespace sluice::interpose {

template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() { std::free(values_); }

  // add() is false where there is no memory.
  bool add(const T& value) {
    if (size_ == capacity_) {
      const size_t capacity = capacity_ == 0 ? 64 : 2 * capacity_;
      void* const moved = std::realloc(values_, capacity * sizeof(T));
      if (moved == nullptr) return false;
      values_ = static_cast<T*>(moved);
      capacity_ = capacity;
    }
    values_[size_++] = value;
    return true;
  }
  void shorten(size_t size) { size_ = size; }

  size_t size() const { return size_; }
  T* begin() { return values_; }
  T* end() { return values_ + size_; }
  const T* begin() const { return values_; }
  const T* end() const { return values_ + size_; }
  T& operator[](size_t index) { return values_[index]; }
  const T& operator[](size_t index) const { return values_[index]; }

 private:
  void swap(Array& other) noexcept {
    std::swap(values_, other.values_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  T* values_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace sluice::interpose
