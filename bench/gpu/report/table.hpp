// The table: lines of fixed width for the terminal, printed as they are measured, and Markdown.
#pragma once
#include <string>

#include "report.hpp"

namespace sluice::gpu_probe {

// format_value() writes a value with four significant digits and no exponent: 0.4213, 12.30, 48210.
std::string format_value(double value);

// table_header() and table_line() are single lines with a newline. Columns keep their width
// whatever the values are, since a line is printed before the next one is known; only a case's
// name that is too long pushes the others to the right.
std::string table_header();
std::string table_line(const Row& row);

// markdown_header() is two lines; markdown_line() one, with any `|` of the name escaped.
std::string markdown_header();
std::string markdown_line(const Row& row);

}  // namespace sluice::gpu_probe
