// A kernel's name and parameters as its programmer wrote them, as far as they can be known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::tools {

// KernelParameter has a type where the mangled name or the source tells it, a name where the
// source does.
struct KernelParameter {
  std::string type;  // "const float *"
  std::string name;

  bool is_pointer() const { return type.ends_with('*'); }
};

struct KernelSignatureText {
  std::string name;  // "scale<float>"
  std::vector<KernelParameter> parameters;
  bool has_types = false;  // else nothing is known of the parameters, not even their number

  // declaration() is "scale<float>(const float *in, int n)", or the name alone.
  std::string declaration() const;
  // argument() is what parameter `number` is called in a sentence: "in", else
  // "argument 0 (const float *)", else "argument 0".
  std::string argument(size_t number) const;
  // shorten() makes the name and each type fit a line of `width` columns, as name_in_line() does.
  void shorten(size_t width);
};

// signature_of() reads a kernel's name as the driver knows it, mangled or not.
KernelSignatureText signature_of(const std::string& kernel);

// take_source() adds the names that `source`, the text of the kernel's file, gives to the
// parameters. It is believed only where it defines one kernel of that name with `count`
// parameters. Returns whether it did.
bool take_source(KernelSignatureText& signature, const std::string& source, size_t count);

// element_bytes() is the size of what a pointer of that type points to; 0 where it is unknown.
uint32_t element_bytes(const std::string& pointer_type);
// element_name() is "float" for "const float *".
std::string element_name(const std::string& pointer_type);

}  // namespace sluice::tools
