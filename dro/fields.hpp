// What a value consists of, declared once beside its type: the journal's text, the reading of it
// and hashes come from these declarations. A test compares docs/journal.md with them.
//
//   members<T>    T is an object: calls member("name", value.member) for each, in the journal's
//                 order, or another function of `member`:
//                   member("name", value)                 an empty std::optional is left out
//                   member.unless_empty("name", value)    left out where there is none, or 0
//                   member.alternative("name", variant)   which alternative, by its T::kind
//                   member.of_alternative(variant)        the members of that alternative
//   elements<T>   T is an array of fixed length: a tuple of references to what it holds
//   names<T>      T is an enumeration: its values' names, from 0
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/dim3.hpp"

namespace sluice::dro {

struct Undeclared {};
template <class T>
inline constexpr Undeclared members{};
template <class T>
inline constexpr Undeclared elements{};
template <class T>
inline constexpr Undeclared names{};

template <class T>
concept Object = !std::same_as<decltype(members<T>), const Undeclared>;
template <class T>
concept Array = !std::same_as<decltype(elements<T>), const Undeclared>;

template <>
inline constexpr auto elements<Dim3> =
    [](auto& extent) { return std::tie(extent.x, extent.y, extent.z); };
template <class A, class B>
inline constexpr auto elements<std::pair<A, B>> =
    [](auto& pair) { return std::tie(pair.first, pair.second); };
template <class... T>
inline constexpr auto elements<std::tuple<T...>> = [](auto& tuple) { return tuple; };

// Role is what the replay does with a kind of record.
enum class Role {
  input,     // given to a fresh tracker
  found,     // what the tracker finds, and must find again
  left_out,  // words for people, and what only a run on a device can find
};

// emplace_kind() makes `value` hold the alternative whose T::kind this is, as it is by default.
// False where there is none.
template <class... T>
bool emplace_kind(std::variant<T...>& value, std::string_view kind) {
  return ((kind == T::kind && (value.template emplace<T>(), true)) || ...);
}

// DeclaredWriter walks over a value as it is declared, and tells `Out` of open(bracket),
// close(bracket), name(of a member), next() before each value of a list, and leaf(value).
template <class Out>
class DeclaredWriter {
 public:
  explicit DeclaredWriter(Out& out) : out_(out) {}

  template <class T>
  void put(const T& value) {
    if constexpr (Object<T>) {
      out_.open('{');
      members<T>(value, *this);
      out_.close('}');
    } else if constexpr (Array<T>) {
      out_.open('[');
      std::apply([&](const auto&... each) { (put_next(each), ...); }, elements<T>(value));
      out_.close(']');
    } else if constexpr (requires { value.begin(); } && !std::same_as<T, std::string>) {
      out_.open('[');
      for (const auto& each : value)
        put_next(each);
      out_.close(']');
    } else {
      out_.leaf(value);
    }
  }
  template <class T>
  void operator()(const char* name, const T& value) {
    out_.name(name);
    put(value);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) {
    if (value) (*this)(name, *value);
  }
  template <class T>
  void unless_empty(const char* name, const T& value) {
    bool is_empty = false;
    if constexpr (requires { value.present(); }) {
      is_empty = !value.present();
    } else if constexpr (std::integral<T>) {
      is_empty = value == 0;
    } else {
      is_empty = value.empty();
    }
    if (!is_empty) (*this)(name, value);
  }
  template <class... T>
  void alternative(const char* name, const std::variant<T...>& value) {
    (*this)(name, std::visit([](const auto& held) { return std::string(held.kind); }, value));
  }
  template <class... T>
  void of_alternative(const std::variant<T...>& value) {
    std::visit([this]<class Held>(const Held& held) { members<Held>(held, *this); }, value);
  }

 private:
  template <class T>
  void put_next(const T& value) {
    out_.next();
    put(value);
  }
  Out& out_;
};

}  // namespace sluice::dro
