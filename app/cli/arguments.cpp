// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments.h"

#include "core/run/runcontroller.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace knobscope::cli {

namespace {

/// The values as CLI11 stores them; paths and names keep their bytes until they are whole.
struct Raw {
    std::string file, run, database, exportDir, csvDir, figure, style = "acm", sshConfig;
    std::vector<std::string> hosts;
    bool acceptNewKeys = false;
    bool dryRun = false;
    bool json = false;
    bool quiet = false;
};

std::string notEmpty(const std::string& value) {
    return value.empty() ? std::string("must not be empty") : std::string();
}

void addDatabase(CLI::App& command, Raw& raw) {
    command
        .add_option("--db", raw.database,
                    "Database of runs (default: knobscope/runs.db in the user's data folder)")
        ->type_name("FILE")
        ->check(notEmpty);
}

void addSsh(CLI::App& command, Raw& raw) {
    command.add_option("--ssh-config", raw.sshConfig, "Use this file instead of ~/.ssh/config")
        ->type_name("FILE")
        ->check(notEmpty);
    command.add_flag("--accept-new", raw.acceptNewKeys,
                     "Accept the host keys of hosts not seen before (changed keys never pass)");
}

void addMeasuring(CLI::App& command, Raw& raw) {
    addDatabase(command, raw);
    command
        .add_option("--export", raw.exportDir, "Write CSV files and figure.pdf there at the end")
        ->type_name("DIR")
        ->check(notEmpty);
    command.add_flag("--json", raw.json, "Tell what happens as JSON, one event a line");
    command.add_flag("--quiet", raw.quiet, "No progress, only the result");
    addSsh(command, raw);
}

void addRunId(CLI::App& command, Raw& raw) {
    command.add_option("RUN", raw.run, "Number of the run, or \"last\"")
        ->required()
        ->type_name("")
        ->check([](const std::string& text) {
            const bool number = !text.empty() && text.size() <= 18 &&
                                text.find_first_not_of("0123456789") == std::string::npos;
            return number || text == "last" ? std::string()
                                            : "is no run: give its number or \"last\"";
        });
}

void addExport(CLI::App& command, Raw& raw) {
    addRunId(command, raw);
    addDatabase(command, raw);
    auto* csv = command.add_option("--csv", raw.csvDir, "Write CSV files into this folder")
                    ->type_name("DIR")
                    ->check(notEmpty);
    auto* figure =
        command.add_option("--figure", raw.figure, "Draw the curves: .pdf, .svg or .png")
            ->type_name("FILE")
            ->check(notEmpty);
    command.add_option("--style", raw.style, "Size and type of the figure")
        ->type_name("")
        ->check(CLI::IsMember({"acm", "ieee", "usenix", "slides"}))
        ->needs(figure);
    command.callback([csv, figure] {
        if (csv->empty() && figure->empty())
            throw CLI::RequiredError("export: --csv or --figure");
    });
}

void addHosts(CLI::App& command, Raw& raw, int most) {
    command.add_option("HOST", raw.hosts, "Name for ssh, or \"local\" for this computer")
        ->required()
        ->type_name("")
        ->expected(1, most)
        ->check(notEmpty);
    addSsh(command, raw);
}

QString text(const std::string& bytes) {
    return QString::fromLocal8Bit(bytes.data(), static_cast<qsizetype>(bytes.size()));
}

Arguments arguments(Arguments::Command command, const Raw& raw) {
    Arguments result;
    result.command = command;
    result.file = text(raw.file);
    result.run = text(raw.run);
    for (const std::string& host : raw.hosts)
        result.hosts.append(text(host));
    result.database = text(raw.database);
    result.exportDir = text(raw.exportDir);
    result.csvDir = text(raw.csvDir);
    result.figure = text(raw.figure);
    result.style = text(raw.style);
    result.sshConfig = text(raw.sshConfig);
    result.acceptNewKeys = raw.acceptNewKeys;
    result.dryRun = raw.dryRun;
    result.json = raw.json;
    result.quiet = raw.quiet;
    return result;
}

} // namespace

std::variant<Arguments, int> parseArguments(int argc, const char* const* argv) {
    using Command = Arguments::Command;
    Raw raw;
    CLI::App app{"Sweep knobs on real hosts, measure, put every knob back.", "knobscope-cli"};
    app.require_subcommand(1);
    app.set_version_flag("--version", "knobscope-cli " KNOBSCOPE_VERSION);
    app.footer("Exit status: 0 all well; 1 some samples failed; 2 the file or the arguments are\n"
               "wrong; 3 a host cannot be used; 4 a knob could not be put back (see the message);\n"
               "130 stopped, knobs are back.\n");
    std::vector<std::pair<CLI::App*, Command>> commands;
    const auto add = [&](Command command, const char* name, const char* help) -> CLI::App& {
        CLI::App* added = app.add_subcommand(name, help);
        commands.emplace_back(added, command);
        return *added;
    };

    CLI::App& run = add(Command::Run, "run", "Check, measure, put back and store an experiment");
    run.add_option("FILE", raw.file, "Experiment file")->required()->type_name("")->check(notEmpty);
    run.add_flag("--dry-run", raw.dryRun, "Only show what would be measured");
    addMeasuring(run, raw);
    CLI::App& resume = add(Command::Resume, "resume", "Go on where a run was interrupted");
    addRunId(resume, raw);
    addMeasuring(resume, raw);
    addDatabase(add(Command::Runs, "runs", "List the stored runs"), raw);
    CLI::App& show = add(Command::Show, "show", "Cells, flags and counters of a run");
    addRunId(show, raw);
    addDatabase(show, raw);
    addExport(add(Command::Export, "export", "Write a run as CSV or draw its figure"), raw);
    addHosts(add(Command::Check, "check", "Find out whether hosts can be used"), raw, 1000);
    addHosts(add(Command::Recover, "recover", "Put back what a dead agent left on a host"), raw, 1);

    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& wanted) { // --help, --version
        return app.exit(wanted);
    } catch (const CLI::Error& error) {
        std::cerr << "knobscope-cli: " << error.what() << " (see knobscope-cli --help)\n";
        return static_cast<int>(ExitStatus::BadInput);
    }
    for (const auto& [subcommand, command] : commands) {
        if (subcommand->parsed())
            return arguments(command, raw);
    }
    return static_cast<int>(ExitStatus::BadInput);
}

} // namespace knobscope::cli
