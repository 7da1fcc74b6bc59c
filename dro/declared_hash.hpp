// The hash of all that fields.hpp's declarations say of a value.
#pragma once

#include <cstddef>

#include "base/hash.hpp"
#include "dro/fields.hpp"

namespace sluice::dro {

// DeclaredHash hashes values whose type is declared, for unordered tables.
struct DeclaredHash {
  template <class T>
  size_t operator()(const T& value) const {
    Sum sum;
    DeclaredWriter(sum).put(value);
    return sum.hash;
  }

 private:
  struct Sum {
    size_t hash = 0;
    void open(char bracket) { leaf(bracket); }
    void close(char) {}
    void name(const char*) {}
    void next() {}
    template <class T>
    void leaf(const T& value) {
      boost::hash_combine(hash, value);
    }
  };
};

}  // namespace sluice::dro
