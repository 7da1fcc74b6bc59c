// fmt's own functions, compiled here and nowhere else. Debian has them as a shared library only,
// which could meet another version of itself in the program; compiled into each file (fmt's
// "header-only" way) they take a third of all compile time.
#include <fmt/format-inl.h>

template auto fmt::detail::thousands_sep_impl(fmt::detail::locale_ref)
    -> fmt::detail::thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl(fmt::detail::locale_ref) -> char;
