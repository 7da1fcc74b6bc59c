#include <utility>

#include "runtime/runtime.hpp"

namespace sluice::runtime {

Config& Config::set_rule(dro::Rule value) {
  rule = value;
  return *this;
}

Config& Config::set_journal_path(std::string value) {
  journal_path = std::move(value);
  return *this;
}

Config& Config::set_program(std::string value) {
  program = std::move(value);
  return *this;
}

Config& Config::set_workers(uint32_t value) {
  workers = value;
  return *this;
}

Config& Config::set_window_launches(uint32_t value) {
  window_launches = value;
  return *this;
}

Config& Config::set_check_footprints(bool value) {
  check_footprints = value;
  return *this;
}

Config& Config::set_check_blocks(uint32_t value) {
  check_blocks = value;
  return *this;
}

Config& Config::set_stress(uint32_t value) {
  stress = value;
  return *this;
}

Config& Config::set_time_tasks(bool value) {
  time_tasks = value;
  return *this;
}

Config& Config::set_check_races(bool value) {
  check_races = value;
  return *this;
}

Config& Config::set_governor(const Governor::Config& value, int64_t (*read_clock)()) {
  governor = value;
  clock = read_clock;
  return *this;
}

}  // namespace sluice::runtime
