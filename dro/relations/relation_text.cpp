#include "dro/relations/relation_text.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace sluice::dro {
namespace {

using Form = RelationText::Form;
using Piece = RelationText::Piece;

constexpr size_t dims = relation_dims;
constexpr int64_t largest = int64_t{1} << 40;  // sums and products of a few are still exact

constexpr size_t most_pieces = 1024;

// Failure ends the reading of a text that is something else.
struct Failure {};

int64_t checked(int64_t value) {
  if (value > largest || value < -largest) throw Failure();
  return value;
}

Form sum(Form a, const Form& b, int64_t factor) {
  if (a.size() < b.size()) a.resize(b.size());
  for (size_t i = 0; i < b.size(); ++i)
    a[i] = checked(a[i] + checked(factor * b[i]));
  return a;
}

bool is_constant(const Form& form) {
  return std::all_of(form.begin() + 1, form.end(), [](int64_t each) { return each == 0; });
}

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  // read() throws Failure where the text is not what it reads.
  RelationText read() {
    expect("{");
    read_tuple(block_dims);
    expect("->");
    read_tuple(1);
    if (piece_.divisions != 0) throw Failure();  // they would be needed in each piece
    std::vector<Piece> pieces;
    if (take(":")) {
      do {
        read_pieces(pieces);
      } while (take_word("or"));
    } else {
      begin_piece();
      pieces.push_back(piece_);
    }
    expect("}");
    skip_space();
    if (!rest_.empty()) throw Failure();
    return {std::move(names_), std::move(pieces)};
  }

 private:
  struct Division {
    Form numerator;
    int64_t denominator;
    size_t column;
  };

  void skip_space() {
    while (!rest_.empty() && rest_.front() == ' ')
      rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) throw Failure();
  }
  // next_word() is the identifier that comes next, empty where none does.
  std::string_view next_word() {
    skip_space();
    size_t length = 0;
    const auto belongs = [&](char c) {
      return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' ||
             (length > 0 && std::isdigit(static_cast<unsigned char>(c)) != 0);
    };
    while (length < rest_.size() && belongs(rest_[length]))
      ++length;
    return rest_.substr(0, length);
  }
  bool take_word(std::string_view word) {
    if (next_word() != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::string read_word() {
    const std::string_view word = next_word();
    if (word.empty()) throw Failure();
    rest_.remove_prefix(word.size());
    return std::string(word);
  }
  bool next_is_digit() {
    skip_space();
    return !rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front())) != 0;
  }
  int64_t read_number() {
    if (!next_is_digit()) throw Failure();
    int64_t value = 0;
    while (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front())) != 0) {
      value = checked(value * 10 + (rest_.front() - '0'));
      rest_.remove_prefix(1);
    }
    return value;
  }

  // A tuple is [x, y, z = 0], with or without a name; what a dimension equals holds in each piece.
  void read_tuple(size_t count) {
    if (!next_word().empty()) read_word();
    expect("[");
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) expect(",");
      const std::string name = read_word();
      // A name that came before is no name but the value of this dimension.
      if (std::find(names_.begin(), names_.end(), name) != names_.end()) throw Failure();
      names_.push_back(name);
      scope_.emplace_back(name, names_.size());
      if (!take("=")) continue;
      Form equal = sum(variable(names_.size()), read_form(), -1);
      tuple_equal_.push_back(std::move(equal));
    }
    expect("]");
  }

  void begin_piece() {
    piece_ = {};
    piece_.equal = tuple_equal_;
    divisions_.clear();
  }
  // isl takes out what pieces have in common: a and (b or c). Such text is read once for each
  // piece, each time with another choice in its parentheses.
  void read_pieces(std::vector<Piece>& pieces) {
    const std::string_view start = rest_;
    choices_.clear();
    for (;;) {
      rest_ = start;
      next_choice_ = 0;
      begin_piece();
      read_conjunction();
      pieces.push_back(std::move(piece_));
      if (pieces.size() > most_pieces) throw Failure();
      while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().count)
        choices_.pop_back();
      if (choices_.empty()) return;
      ++choices_.back().taken;
    }
  }
  // read_choice() reads one of the alternatives up to the parenthesis that ends them.
  void read_choice() {
    const size_t place = next_choice_++;
    if (place == choices_.size()) choices_.push_back({});
    const size_t taken = choices_[place].taken;
    for (size_t i = 0; i < taken; ++i) {
      skip_alternative();
      if (!take_word("or")) throw Failure();
    }
    read_conjunction();
    size_t count = taken + 1;
    for (; take_word("or"); ++count)
      skip_alternative();
    choices_[place].count = count;
    expect(")");
  }
  // skip_alternative() goes on to the next "or" or closing parenthesis outside of others.
  void skip_alternative() {
    for (size_t depth = 0;;) {
      const std::string_view word = next_word();
      if (rest_.empty()) throw Failure();
      if (depth == 0 && (word == "or" || rest_.starts_with(")"))) return;
      if (rest_.starts_with("(")) ++depth;
      if (rest_.starts_with(")")) --depth;
      rest_.remove_prefix(std::max<size_t>(1, word.size()));
    }
  }
  void read_conjunction() {
    do {
      if (take_word("exists")) {
        read_exists();
      } else if (take("(")) {
        read_choice();
      } else {
        read_comparison();
      }
    } while (take_word("and"));
  }

  void read_exists() {
    expect("(");
    const size_t outer = scope_.size();
    do {
      const std::string name = read_word();
      if (take("=")) {
        if (!take_word("floor")) throw Failure();
        const size_t column = read_division();
        scope_.emplace_back(name, column);
      } else {
        scope_.emplace_back(name, new_column());
      }
    } while (take(","));
    expect(":");
    read_choice();
    scope_.resize(outer);
  }

  void read_comparison() {
    Form left = read_form();
    bool any = false;
    for (;; any = true) {
      // 0 <= right - left, and so on; of whole numbers "less" is "at most one less".
      int64_t sign = 1;
      int64_t margin = 0;
      bool is_equality = false;
      if (take("<=")) {
      } else if (take(">=")) {
        sign = -1;
      } else if (take("<")) {
        margin = -1;
      } else if (take(">")) {
        sign = -1;
        margin = -1;
      } else if (take("=")) {
        is_equality = true;
      } else {
        break;
      }
      Form right = read_form();
      Form difference = sum(sum(Form(1 + dims), right, sign), left, -sign);
      difference[0] = checked(difference[0] + margin);
      (is_equality ? piece_.equal : piece_.at_least).push_back(std::move(difference));
      left = std::move(right);
    }
    if (!any) throw Failure();
  }

  Form read_form() {
    Form form(1 + dims);
    int64_t sign = take("-") ? -1 : 1;
    for (;;) {
      form = sum(std::move(form), read_term(), sign);
      if (take("+")) {
        sign = 1;
      } else if (is_minus()) {
        expect("-");
        sign = -1;
      } else {
        return form;
      }
    }
  }
  bool is_minus() {
    skip_space();
    return rest_.starts_with("-") && !rest_.starts_with("->");
  }

  // A term is 8192y, 1024*floor((4 + o)/1024), o or 7.
  Form read_term() {
    int64_t factor = 1;
    if (next_is_digit()) {
      factor = read_number();
      const bool is_product = take("*");
      const std::string_view word = next_word();
      const bool is_over = word.empty() || word == "and" || word == "or";
      if (is_over && is_product) throw Failure();
      if (is_over) {
        Form constant(1 + dims);
        constant[0] = factor;
        return constant;
      }
    }
    if (take_word("floor")) return sum(Form(1 + dims), variable(read_division()), factor);
    return sum(Form(1 + dims), variable(column_of(read_word())), factor);
  }

  // read_division() reads ((4 + o)/1024) and is the column of that division.
  size_t read_division() {
    expect("(");
    expect("(");
    Form numerator = read_form();
    expect(")");
    expect("/");
    const int64_t denominator = read_number();
    expect(")");
    if (denominator <= 0 || is_constant(numerator)) throw Failure();
    for (const Division& known : divisions_) {
      if (known.denominator == denominator && known.numerator == numerator) return known.column;
    }
    const size_t column = new_column();
    // denominator * e <= numerator < denominator * (e + 1)
    const Form multiple = sum(Form(1 + dims), variable(column), denominator);
    piece_.at_least.push_back(sum(numerator, multiple, -1));
    Form room = sum(multiple, numerator, -1);
    room[0] = checked(room[0] + denominator - 1);
    piece_.at_least.push_back(std::move(room));
    divisions_.push_back({std::move(numerator), denominator, column});
    return column;
  }

  size_t new_column() { return dims + ++piece_.divisions; }
  static Form variable(size_t column) {
    Form form(std::max(1 + dims, column + 1));
    form[column] = 1;
    return form;
  }
  size_t column_of(const std::string& name) const {
    const auto found = std::find_if(scope_.rbegin(), scope_.rend(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (found == scope_.rend()) throw Failure();
    return found->second;
  }

  std::string_view rest_;
  std::vector<std::string> names_;                     // of the dimensions
  std::vector<std::pair<std::string, size_t>> scope_;  // names and their columns
  std::vector<Form> tuple_equal_;
  // Choice is which alternative of a parenthesis the piece being read has, and of how many.
  struct Choice {
    size_t taken = 0;
    size_t count = 1;
  };
  Piece piece_;
  std::vector<Division> divisions_;  // of piece_
  std::vector<Choice> choices_;
  size_t next_choice_ = 0;
};

}  // namespace

std::optional<RelationText> parse_relation(std::string_view text) {
  try {
    return Reader(text).read();
  } catch (const Failure&) {
    return std::nullopt;
  }
}

}  // namespace sluice::dro
