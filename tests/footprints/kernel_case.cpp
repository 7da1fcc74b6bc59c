#include "kernel_case.hpp"

#include <ostream>

namespace sluice::footprints {

Argument buffer(size_t bytes, size_t at) {
  Field field;
  field.is_pointer = true;
  field.contents.resize(bytes);
  field.at = at;
  return {field};
}

Argument ints(size_t count, const std::function<int(size_t)>& value) {
  return filled<int>(count, value);
}

Argument within(int pointer, size_t at) {
  Field field;
  field.is_pointer = true;
  field.into = pointer;
  field.at = at;
  return {field};
}

Argument object(const std::vector<Argument>& fields) {
  Argument all;
  for (const Argument& each : fields)
    all.insert(all.end(), each.begin(), each.end());
  return all;
}

Model reads(const std::function<int(int)>& from) {
  return [from](Thread& t) {
    if (t.x() >= 30) return;
    t.read(0, from(t.x()));
    t.write(1, t.x());
  };
}

void PrintTo(const Theme& theme, std::ostream* stream) {
  *stream << theme.file;
}

const std::vector<Theme>& themes() {
  static const std::vector<Theme> all = {
      {"affine", affine_cases},
      {"arguments", argument_cases},
      {"atomics", atomic_cases},
      {"communication", communication_cases},
      {"generic", generic_cases},
      {"guards", guard_cases},
      {"indirection", indirection_cases},
      {"integers", integer_cases},
      {"loops", loop_cases},
      {"matrices", matrix_cases},
      {"polynomial", polynomial_cases},
      {"quasi_affine", quasi_affine_cases},
      {"spaces", space_cases},
      {"textures", texture_cases},
      {"vectors", vector_cases},
  };
  return all;
}

}  // namespace sluice::footprints
