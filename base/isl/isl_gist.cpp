// isl's gists, checked. As Polly 19 ships it, isl may leave out constraints that matter, where
// a set has few integer points for which other constraints are equalities: of
//   [p, q] -> { [i] : i >= 0 and 18p + 5i <= 1 and p + 13q <= 10i }
// in the context 0 <= p <= 12 and 0 <= q <= 8 it leaves { [i] : 10i = p + 13q }, and Polly makes
// the domains of its statements so. A gist says of the context what its set says; one that does not
// is replaced by the set, which is a gist of itself.
//
// The linker gives isl's public functions for gists to this file (ld --wrap), as far as Polly and
// isl itself call them for sets and maps.
#include <isl/map.h>
#include <isl/set.h>

#include "isl/isl-noexceptions.h"

namespace {

// checked() is `gist` where that is one of `whole`. Without an answer of isl's it is `whole`.
template <class Set>
auto checked(const Set& whole, const Set& gist, const Set& whole_within, const Set& gist_within) {
  if (gist.is_null()) return gist.copy();
  return gist_within.is_equal(whole_within).is_true() ? gist.copy() : whole.copy();
}

template <class Set, class Gist, class Within>
auto checked_gist(Set* set, Gist real, Within within) {
  const auto whole = isl::manage(set);
  const auto gist = isl::manage(real(whole.copy()));
  return checked(whole, gist, isl::manage(within(whole.copy())), isl::manage(within(gist.copy())));
}

isl_set* within_basic_set(isl_set* set, isl_basic_set* context) {
  return isl_set_intersect(set, isl_set_from_basic_set(context));
}

isl_set* within_params(isl_set* set, isl_basic_set* context) {
  return isl_set_intersect_params(set, isl_set_from_basic_set(context));
}

}  // namespace

// Each function FUNCTION takes a SET and a CONTEXT, within which WITHIN confines the set.
#define SLUICE_CHECKED_GIST(FUNCTION, SET, CONTEXT, WITHIN)                      \
  extern "C" SET* __real_##FUNCTION(SET*, CONTEXT*);                             \
  extern "C" SET* __wrap_##FUNCTION(SET* set, CONTEXT* context);                 \
  SET* __wrap_##FUNCTION(SET* set, CONTEXT* context) {                           \
    const auto known = isl::manage(context);                                     \
    return checked_gist(                                                         \
        set, [&](SET* whole) { return __real_##FUNCTION(whole, known.copy()); }, \
        [&](SET* whole) { return WITHIN(whole, known.copy()); });                \
  }

SLUICE_CHECKED_GIST(isl_basic_set_gist, isl_basic_set, isl_basic_set, isl_basic_set_intersect)
SLUICE_CHECKED_GIST(isl_basic_map_gist, isl_basic_map, isl_basic_map, isl_basic_map_intersect)
SLUICE_CHECKED_GIST(isl_basic_map_gist_domain, isl_basic_map, isl_basic_set,
                    isl_basic_map_intersect_domain)
SLUICE_CHECKED_GIST(isl_set_gist, isl_set, isl_set, isl_set_intersect)
SLUICE_CHECKED_GIST(isl_set_gist_params, isl_set, isl_set, isl_set_intersect_params)
SLUICE_CHECKED_GIST(isl_map_gist, isl_map, isl_map, isl_map_intersect)
SLUICE_CHECKED_GIST(isl_map_gist_domain, isl_map, isl_set, isl_map_intersect_domain)
SLUICE_CHECKED_GIST(isl_map_gist_range, isl_map, isl_set, isl_map_intersect_range)
SLUICE_CHECKED_GIST(isl_map_gist_params, isl_map, isl_set, isl_map_intersect_params)
SLUICE_CHECKED_GIST(isl_set_gist_basic_set, isl_set, isl_basic_set, within_basic_set)
// isl's own, called where it simplifies piecewise expressions.
SLUICE_CHECKED_GIST(isl_set_gist_params_basic_set, isl_set, isl_basic_set, within_params)
