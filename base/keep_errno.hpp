// The program's errno, kept from what Sluice does inside a call of the program.
#pragma once

#include <cerrno>

namespace sluice {

// KeepErrno leaves errno, when its scope ends, as it was where the scope began.
class KeepErrno {
 public:
  KeepErrno() : before_(errno) {}
  KeepErrno(const KeepErrno&) = delete;
  ~KeepErrno() { errno = before_; }

 private:
  const int before_;
};

}  // namespace sluice
