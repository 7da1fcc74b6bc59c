// The rows of the kernel table: a launch of a kernel of tests/kernels/access, the footprint that it
// must have, and what its threads really touch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "analysis/footprint_oracle.hpp"
#include "base/dim3.hpp"

namespace sluice::footprints {

using analysis::testing::Model;
using analysis::testing::Thread;

// The footprints of most kernels that read one buffer and write another.
inline const std::vector<std::string> copy = {"reads exact", "writes exact"};

// Field is a scalar, or a pointer into device memory that is made for the launch.
struct Field {
  std::vector<std::byte> value;  // of a scalar
  bool is_pointer = false;
  int into = -1;  // the allocation: the launch's pointer of that number, or -1: its own
  std::vector<std::byte> contents;  // of its own allocation
  size_t at = 0;                    // where in the allocation it points, in bytes
};

// Argument is one parameter: a scalar, a pointer, or the fields of a struct at their natural
// places.
using Argument = std::vector<Field>;

template <class T>
Argument scalar(T value) {
  Field field;
  field.value.resize(sizeof(T));
  std::memcpy(field.value.data(), &value, sizeof(T));
  return {field};
}

// buffer() is a pointer to `bytes` of zeros of its own, `at` bytes behind their begin.
Argument buffer(size_t bytes, size_t at = 0);
// filled() is a pointer to `count` values that `value` gives.
template <class T>
Argument filled(size_t count, const std::function<T(size_t)>& value) {
  Argument argument = buffer(count * sizeof(T));
  for (size_t i = 0; i < count; ++i) {
    const T each = value(i);
    std::memcpy(argument[0].contents.data() + i * sizeof(T), &each, sizeof(T));
  }
  return argument;
}
// ints() is filled() for the commonest type.
Argument ints(size_t count, const std::function<int(size_t)>& value);
// within() points `at` bytes into the allocation of an earlier pointer of the same launch.
Argument within(int pointer, size_t at);
// object() is a struct of those fields.
Argument object(const std::vector<Argument>& fields);

// reads() is the model of out[X] = in[from(X)] for all X below 30.
Model reads(const std::function<int(int)>& from);

// KernelCase is one row. `footprint` has one entry for each pointer that the kernel uses, in the
// order of the parameters, such as "reads exact, may-writes bounded"; "" where nothing is touched.
// For a kernel that is opaque it is one entry, "opaque: " and a part of the reason; for one whose
// instructions Sluice does not know, "refused: " and a part of the reason.
// `model` plays one thread and says what it touches, whatever the data: the reads (and the writes)
// through a pointer are exactly that where they are exact, or where the model has any.
struct KernelCase {
  const char* kernel = "";
  Dim3 grid, block;
  std::vector<Argument> arguments;
  std::vector<std::string> footprint;
  Model model;
  // Set where no block can be made to touch all that its footprint holds: what it does depends on
  // data, or is taken to.
  bool data_decides = false;
  // Set where a kernel could have a narrower footprint than it has today: which.
  const char* wider_than_ideal = "";
  uint32_t dynamic_shared_bytes = 0;
};

// Theme is a file of tests/kernels/access and its rows.
struct Theme {
  const char* file = "";
  std::vector<KernelCase> (*cases)();
};
void PrintTo(const Theme& theme, std::ostream* stream);

const std::vector<Theme>& themes();

std::vector<KernelCase> affine_cases();
std::vector<KernelCase> argument_cases();
std::vector<KernelCase> atomic_cases();
std::vector<KernelCase> communication_cases();
std::vector<KernelCase> generic_cases();
std::vector<KernelCase> guard_cases();
std::vector<KernelCase> indirection_cases();
std::vector<KernelCase> integer_cases();
std::vector<KernelCase> loop_cases();
std::vector<KernelCase> matrix_cases();
std::vector<KernelCase> polynomial_cases();
std::vector<KernelCase> quasi_affine_cases();
std::vector<KernelCase> space_cases();
std::vector<KernelCase> texture_cases();
std::vector<KernelCase> vector_cases();

}  // namespace sluice::footprints
