// What each thread has for itself, for threads of Sluice's own.
#pragma once

#include <optional>

#include <pthread.h>

namespace sluice {

// ThreadOwned<T>::get() is the calling thread's T, made at first use and destroyed when the thread
// ends; where the process has no more keys it is left behind. A variable that is thread_local does
// the same, but its destructor is registered under the dynamic linker's lock. A thread of the
// program has that while it runs the constructors of a library, and may there wait for the device,
// and so for the thread that would register.
template <class T>
class ThreadOwned {
 public:
  static T& get() {
    if (own_ == nullptr) {
      own_ = new T();
      static const std::optional<pthread_key_t> key = make_key();
      if (key) pthread_setspecific(*key, own_);
    }
    return *own_;
  }

 private:
  static std::optional<pthread_key_t> make_key() {
    pthread_key_t key = 0;
    return pthread_key_create(&key, destroy) == 0 ? std::optional(key) : std::nullopt;
  }
  static void destroy(void* owned) {
    own_ = nullptr;
    delete static_cast<T*>(owned);
  }

  static inline thread_local constinit T* own_ = nullptr;
};

}  // namespace sluice
