// Ways through machine code, and what hangs on what along them.
#include <algorithm>
#include <deque>
#include <map>
#include <regex>
#include <utility>

#include "megakernel/machine/machine_code.hpp"

namespace sluice::megakernel::testing {
namespace {

using Instruction = MachineCode::Instruction;

// What may follow, a call being followed by what it calls too.
std::vector<size_t> all_next(const MachineCode& code, size_t at) {
  std::vector<size_t> next = code.instructions[at].next;
  const std::string& callee = code.instructions[at].callee;
  if (callee.empty()) return next;
  const auto entry = std::find_if(code.instructions.begin(), code.instructions.end(),
                                  [&](const auto& one) { return one.function == callee; });
  if (entry != code.instructions.end()) next.push_back(entry - code.instructions.begin());
  return next;
}

// Depths follows how many loads each register's value hangs on.
class Depths {
 public:
  void pass(const Instruction& here) {
    std::vector<std::string> operands = split(here.operands);
    if (here.is("STS")) {
      for (const std::string& operand : operands)
        shared_ = std::max(shared_, of(operand, width(here)));
      return;
    }
    const bool has_result = !operands.empty() && !is_store(here);
    // Predicates that come before the result carry no address.
    const auto first = std::find_if(operands.begin(), operands.end(), [](const std::string& one) {
      return one.starts_with("R") || one.starts_with("UR");
    });
    if (!has_result || first == operands.end()) return;
    const std::string result = *first;
    operands.erase(operands.begin(), first + 1);
    last_ = here.is("LDS") ? shared_ : 0;
    // Of a product's operands the addend alone is wide.
    const bool is_product = here.is("IMAD.WIDE") || here.is("IMAD.HI");
    for (const std::string& operand : operands) {
      const bool is_addend = &operand == &operands.back();
      last_ = std::max(last_, of(operand, !is_product ? width(here) : is_addend ? 2 : 1));
    }
    if (here.is("LDG") || here.is("LD") || here.is("ATOMG")) ++last_;
    const auto [name, number] = parts(result);
    for (unsigned i = 0; name != "" && i < width(here); ++i) {
      unsigned& depth = depths_[name + std::to_string(number + i)];
      depth = here.guard.empty() ? last_ : std::max(depth, last_);
    }
  }
  unsigned last() const { return last_; }

 private:
  static bool is_store(const Instruction& here) {
    return here.is("STG") || here.is("ST") || here.is("BAR") || here.is("RED") || here.is("REDG");
  }
  static std::vector<std::string> split(const std::string& text) {
    static const std::regex between(", *");
    return {std::sregex_token_iterator(text.begin(), text.end(), between, -1), {}};
  }
  static std::pair<std::string, unsigned> parts(const std::string& text) {
    static const std::regex shape(R"(^(U?R)(\d+).*$)");
    std::smatch match;
    if (!std::regex_match(text, match, shape)) return {"", 0};
    return {match[1], static_cast<unsigned>(std::stoul(match[2]))};
  }
  static unsigned width(const Instruction& here) {
    const std::string& opcode = here.opcode;
    if (opcode.find(".128") != std::string::npos) return 4;
    const bool is_wide = opcode.find(".64") != std::string::npos ||
                         opcode.find(".WIDE") != std::string::npos || opcode == "CS2R";
    return is_wide ? 2 : 1;
  }

  // All registers that an operand names, each with those behind it that are read with it.
  unsigned of(const std::string& operand, unsigned width) const {
    static const std::regex shape(R"((U?R)(\d+)(\.64)?)");
    unsigned depth = 0;
    for (std::sregex_iterator it(operand.begin(), operand.end(), shape), none; it != none; ++it) {
      const auto number = static_cast<unsigned>(std::stoul((*it)[2]));
      // An address is one register where it does not say otherwise, however wide the access is.
      const bool is_address = operand.find('[') != std::string::npos;
      const unsigned count = (*it)[3].matched ? 2 : is_address ? 1 : width;
      for (unsigned i = 0; i < count; ++i) {
        const auto found = depths_.find((*it)[1].str() + std::to_string(number + i));
        if (found != depths_.end()) depth = std::max(depth, found->second);
      }
    }
    return depth;
  }

  std::map<std::string, unsigned> depths_;
  unsigned shared_ = 0;
  unsigned last_ = 0;
};

}  // namespace

std::vector<const Instruction*> shortest_path(const MachineCode& code, const std::string& function,
                                              const std::vector<Landmark>& landmarks) {
  using Place = std::pair<size_t, size_t>;  // instruction, landmarks that are behind it
  const auto start = std::find_if(code.instructions.begin(), code.instructions.end(),
                                  [&](const auto& one) { return one.function == function; });
  if (start == code.instructions.end()) return {};
  std::map<Place, Place> from;
  std::deque<Place> open;
  const auto visit = [&](size_t at, size_t passed, const Place& before) {
    const Instruction& here = code.instructions[at];
    const Landmark& next = landmarks[passed];
    if (next.is(here)) {
      ++passed;
    } else if (next.avoids && next.avoids(here)) {
      return;
    }
    if (from.try_emplace({at, passed}, before).second) open.emplace_back(at, passed);
  };
  const Place nowhere{code.instructions.size(), 0};
  visit(start - code.instructions.begin(), 0, nowhere);
  while (!open.empty()) {
    const Place place = open.front();
    open.pop_front();
    if (place.second == landmarks.size()) {
      std::vector<const Instruction*> path;
      for (Place at = place; at != nowhere; at = from.at(at))
        path.push_back(&code.instructions[at.first]);
      std::reverse(path.begin(), path.end());
      return path;
    }
    for (const size_t next : all_next(code, place.first))
      visit(next, place.second, place);
  }
  return {};
}

unsigned load_chain(const std::vector<const Instruction*>& path) {
  Depths depths;
  for (const Instruction* here : path)
    depths.pass(*here);
  return depths.last();
}

}  // namespace sluice::megakernel::testing
