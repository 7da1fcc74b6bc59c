// C++ names as people wrote them. PTX and the driver know kernels by mangled names.
#pragma once

#include <string>

namespace sluice {

// demangled() is the C++ declaration behind a mangled name, without a return type:
// "scale<float>(float const*, int)". A name that is not mangled comes back as it is. Thread-safe.
std::string demangled(const std::string& name);

// short_name() is demangled() without the parameters: "scale<float>". Thread-safe.
std::string short_name(const std::string& name);

// parameter_list_begin() is where the parameter list of a demangled name opens; npos where there is
// none.
size_t parameter_list_begin(const std::string& declaration);

}  // namespace sluice
