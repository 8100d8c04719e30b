// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/helpformat.h"

#include "app/cli/texttable.h"

namespace knobscope::cli {

namespace {

constexpr int kWidth = 80;
constexpr int kTextColumn = 20;

/// What it is called on the left, what it means on the right or, behind long names, below.
std::string entry(const std::string& name, const std::string& meaning) {
    const QString column(kTextColumn, QLatin1Char(' '));
    const QString left = QStringLiteral("  ") + QString::fromStdString(name);
    const QString right = wrapped(column + QString::fromStdString(meaning), kWidth, 0);
    if (left.size() + 2 > kTextColumn)
        return (left + QLatin1Char('\n') + right).toStdString();
    return (left.leftJustified(kTextColumn) + right.mid(kTextColumn)).toStdString();
}

std::string optionName(const CLI::Option* option) {
    std::string names;
    for (const std::string& name : option->get_snames())
        names += (names.empty() ? "-" : ", -") + name;
    for (const std::string& name : option->get_lnames())
        names += (names.empty() ? "--" : ", --") + name;
    const std::string text = option->get_option_text();
    return text.empty() ? names : names + ' ' + text;
}

} // namespace

std::string HelpFormat::make_help(const CLI::App* app, std::string name,
                                  CLI::AppFormatMode mode) const {
    return make_usage(app, name) + '\n' + make_description(app) + make_positionals(app) +
           make_subcommands(app, mode) + make_groups(app, mode) + '\n' + make_footer(app);
}

std::string HelpFormat::make_usage(const CLI::App* app, std::string name) const {
    QString line = QStringLiteral("Usage: ") + QString::fromStdString(name);
    if (!app->get_subcommands([](const CLI::App*) { return true; }).empty())
        return (line + QStringLiteral(" COMMAND [OPTION]... [ARGUMENT]...\n       ") +
                QString::fromStdString(name) + QStringLiteral(" COMMAND --help\n"))
            .toStdString();
    // Words that belong together stay so when the line is broken.
    const QChar glue(0xa0);
    const QString indent(line.size(), QLatin1Char(' '));
    for (const CLI::Option* option :
         app->get_options([](const CLI::Option* o) { return o->nonpositional(); })) {
        if (option != app->get_help_ptr())
            line += QStringLiteral(" [%1]").arg(
                QString::fromStdString(optionName(option)).replace(QLatin1Char(' '), glue));
    }
    for (const CLI::Option* option :
         app->get_options([](const CLI::Option* o) { return o->get_positional(); })) {
        line += QLatin1Char(' ') + QString::fromStdString(option->get_name(true, false));
        if (option->get_expected_max() > 1)
            line += QStringLiteral("...");
    }
    return wrapped(line, kWidth, static_cast<int>(indent.size()) + 1)
        .replace(glue, QLatin1Char(' '))
        .toStdString();
}

std::string HelpFormat::make_option(const CLI::Option* option, bool isPositional) const {
    return entry(isPositional ? option->get_name(true, false) : optionName(option),
                 option->get_description());
}

std::string HelpFormat::make_subcommand(const CLI::App* command) const {
    return entry(command->get_name(), command->get_description());
}

} // namespace knobscope::cli
