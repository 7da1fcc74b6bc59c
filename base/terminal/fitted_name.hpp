// Kernel names in what people read: templates make them longer than any line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice {

constexpr size_t usual_width = 100;      // columns, of what isn't a terminal
constexpr size_t any_width = SIZE_MAX;   // nothing is shortened
constexpr size_t least_name_width = 16;  // a name is never shortened to less

// fitted_name() is short_name() of a kernel in at most `width` columns: the arguments of its
// innermost templates become "..." first, then those around them; then its namespaces go; what is
// longer still loses its middle. Thread-safe.
std::string fitted_name(const std::string& kernel, size_t width);

// fitted() is the same of a name or type that is not mangled and has no parameters. Thread-safe.
std::string fitted(std::string name, size_t width);

// name_in_line() is fitted_name() for a line of `width` columns that says more than the name.
std::string name_in_line(const std::string& kernel, size_t width);

// width_of() is how many columns a terminal has, usual_width where the file is none. Thread-safe.
size_t width_of(int file);

}  // namespace sluice
