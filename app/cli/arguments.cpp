// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments.h"

#include "app/cli/helpformat.h"
#include "core/model/suggest.h"
#include "core/run/runcontroller.h"

#include <cerrno>
#include <cstring>
#include <iostream>

#include <sys/stat.h>
#include <unistd.h>

namespace knobscope::cli {

namespace {

/// The values as CLI11 stores them; paths and names keep their bytes until they are whole.
struct Raw {
    std::string file, run, database, exportDir, csvDir, figure, style = "acm", sshConfig, host;
    std::vector<std::string> hosts;
    bool acceptNewKeys = false;
    bool dryRun = false;
    bool preflight = false;
    bool skipRefused = false;
    bool allowCommands = false;
    bool sudo = false;
    bool json = false;
    bool quiet = false;
};

constexpr const char* kProgram = "knobscope-cli";

std::string notEmpty(const std::string& value) {
    return value.empty() ? std::string("must not be empty") : std::string();
}

/// ssh would go on without a file that it cannot read, or say so only once a host is asked.
std::string readable(const std::string& path) {
    struct stat about = {};
    if (stat(path.c_str(), &about) != 0 || access(path.c_str(), R_OK) != 0)
        return path + " cannot be read: " + std::strerror(errno);
    return S_ISDIR(about.st_mode) ? path + " is a folder" : std::string();
}

void addDatabase(CLI::App& command, Raw& raw) {
    command
        .add_option("--db", raw.database,
                    "Database of runs (default: knobscope/runs.db in the user's data folder)")
        ->type_name("FILE")
        ->option_text("FILE")
        ->check(notEmpty);
}

void addJson(CLI::App& command, Raw& raw, const char* help) {
    command.add_flag("--json", raw.json, help);
}

void addSsh(CLI::App& command, Raw& raw) {
    command.add_option("--ssh-config", raw.sshConfig, "Use this file instead of ~/.ssh/config")
        ->type_name("FILE")
        ->option_text("FILE")
        ->check(notEmpty)
        ->check(readable);
    command.add_flag("--accept-new", raw.acceptNewKeys,
                     "Accept the host keys of hosts not seen before (changed keys never pass)");
    command.add_flag("--sudo", raw.sudo,
                     "Become root with sudo, and ask for its password (without a password sudo is "
                     "used by itself)");
}

void addMeasuring(CLI::App& command, Raw& raw) {
    addDatabase(command, raw);
    command
        .add_option("--export", raw.exportDir, "Write CSV files and figure.pdf there at the end")
        ->type_name("DIR")
        ->option_text("DIR")
        ->check(notEmpty);
    addJson(command, raw, "Tell what happens as JSON, one event a line");
    command.add_flag("--quiet", raw.quiet, "No progress, only the result");
    command.add_flag("--allow-commands", raw.allowCommands,
                     "Let the hosts run the command lines of the experiment's command: knobs");
    command.add_flag("--skip-refused", raw.skipRefused,
                     "Leave out the cells with values that a host refuses, and measure the others");
    addSsh(command, raw);
}

void addRunId(CLI::App& command, Raw& raw) {
    command.add_option("RUN", raw.run, "Number of the run, or \"last\"")
        ->required()
        ->type_name("")
        ->check([](const std::string& text) {
            const bool number = !text.empty() && text.size() <= 18 &&
                                text.find_first_not_of("0123456789") == std::string::npos;
            return number || text == "last"
                       ? std::string()
                       : '"' + text + "\" is no run: give its number or \"last\"";
        });
}

void addExport(CLI::App& command, Raw& raw) {
    addRunId(command, raw);
    addDatabase(command, raw);
    auto* csv = command
                    .add_option("--csv", raw.csvDir,
                                "Write CSV files into this folder: samples, cells, "
                                "counters, environment, hosts, streams")
                    ->type_name("DIR")
                    ->option_text("DIR")
                    ->check(notEmpty);
    auto* figure =
        command.add_option("--figure", raw.figure, "Draw the curves: .pdf, .svg or .png")
            ->type_name("FILE")
            ->option_text("FILE")
            ->check(notEmpty);
    command
        .add_option("--style", raw.style,
                    "Size and type of the figure: acm (the default), ieee, usenix or slides")
        ->type_name("NAME")
        ->option_text("NAME")
        ->check([](const std::string& text) {
            const QStringList known{"acm", "ieee", "usenix", "slides"};
            const QString name = QString::fromStdString(text);
            return known.contains(name)
                       ? std::string()
                       : QStringLiteral("there is no style \"%1\"; known are acm, ieee, usenix "
                                        "and slides.%2")
                             .arg(name, didYouMean(name, known))
                             .toStdString();
        })
        ->needs(figure);
    command.callback([csv, figure] {
        if (csv->empty() && figure->empty())
            throw CLI::RequiredError("--csv or --figure");
    });
}

constexpr const char* kHostHelp = "Name for ssh, or \"local\" for this computer";

void addCheck(CLI::App& command, Raw& raw) {
    command.add_option("HOST", raw.hosts, kHostHelp)->required()->type_name("")->check(notEmpty);
    addJson(command, raw, "Print the checks of each host as one JSON array");
    addSsh(command, raw);
}

void addRecover(CLI::App& command, Raw& raw) {
    command.add_option("HOST", raw.host, kHostHelp)->required()->type_name("")->check(notEmpty);
    addJson(command, raw, "Print what was put back as one JSON object");
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
    if (!raw.host.empty())
        result.hosts.append(text(raw.host));
    result.database = text(raw.database);
    result.exportDir = text(raw.exportDir);
    result.csvDir = text(raw.csvDir);
    result.figure = text(raw.figure);
    result.style = text(raw.style);
    result.sshConfig = text(raw.sshConfig);
    result.acceptNewKeys = raw.acceptNewKeys;
    result.dryRun = raw.dryRun;
    result.preflight = raw.preflight;
    result.skipRefused = raw.skipRefused;
    result.allowCommands = raw.allowCommands;
    result.sudo = raw.sudo;
    result.json = raw.json;
    result.quiet = raw.quiet;
    return result;
}

/// The whole command line, with what each subcommand stands for.
class CommandLine {
public:
    CommandLine() {
        m_app.require_subcommand(1);
        m_app.set_help_flag("-h, --help", "Print this help");
        m_app.set_version_flag("--version", std::string(kProgram) + ' ' + KNOBSCOPE_VERSION,
                               "Print the version");
        m_app.footer("Exit status: 0 all well; 1 some samples failed, or could not be stored;\n"
                     "2 the file or the arguments are wrong; 3 a host cannot be used; 4 a knob\n"
                     "could not be put back (see the message); 130 stopped, knobs are back.\n");
        const auto format = std::make_shared<HelpFormat>();
        format->label("Positionals", "Arguments");
        m_app.formatter(format);
        addCommands();
    }

    [[nodiscard]] std::variant<Arguments, int> parse(int argc, const char* const* argv);

private:
    using Command = Arguments::Command;
    void addCommands();
    CLI::App& add(Command command, const char* name, const char* help) {
        CLI::App* added = m_app.add_subcommand(name, help)->group("Commands");
        m_commands.emplace_back(added, command);
        return *added;
    }
    [[nodiscard]] QString unknownCommand(int argc, const char* const* argv) const;
    [[nodiscard]] int refuse(const QString& message) const;

    Raw m_raw;
    CLI::App m_app{"Sweep knobs on real hosts, measure, put every knob back.", kProgram};
    std::vector<std::pair<CLI::App*, Command>> m_commands;
};

void CommandLine::addCommands() {
    CLI::App& run = add(Command::Run, "run", "Check, measure, put back and store an experiment");
    run.add_option("FILE", m_raw.file,
                   "Experiment file: hosts (one or several a side), test, axes, plan")
        ->required()
        ->type_name("")
        ->check(notEmpty);
    auto* dryRun = run.add_flag("--dry-run", m_raw.dryRun,
                                "Only show what would be measured, without asking any host");
    run.add_flag("--preflight", m_raw.preflight,
                 "Only check the hosts, and show what would be changed there")
        ->excludes(dryRun);
    addMeasuring(run, m_raw);
    CLI::App& resume = add(Command::Resume, "resume", "Go on where a run was interrupted");
    addRunId(resume, m_raw);
    addMeasuring(resume, m_raw);
    CLI::App& runs = add(Command::Runs, "runs", "List the stored runs, newest first");
    addDatabase(runs, m_raw);
    addJson(runs, m_raw, "Print the runs as one JSON array");
    CLI::App& show =
        add(Command::Show, "show", "Show the hosts, cells, flags and counters of a run");
    addRunId(show, m_raw);
    addDatabase(show, m_raw);
    addJson(show, m_raw, "Print experiment, cells and counters as one JSON object");
    addExport(add(Command::Export, "export", "Write a run as CSV or draw its figure"), m_raw);
    addCheck(add(Command::Check, "check", "Find out whether hosts can be used"), m_raw);
    addRecover(add(Command::Recover, "recover", "Put back what a dead agent left on a host"),
               m_raw);
}

/// What is wrong with the first word, where a command should stand; empty when nothing is.
QString CommandLine::unknownCommand(int argc, const char* const* argv) const {
    QStringList names;
    for (const auto& [app, command] : m_commands)
        names.append(QString::fromStdString(app->get_name()));
    const QString known = QStringLiteral("the commands are ") + names.join(QStringLiteral(", "));
    const QString first = argc > 1 ? QString::fromLocal8Bit(argv[1]) : QString();
    if (argc <= 1)
        return QStringLiteral("A command is missing; ") + known;
    if (names.contains(first) || QStringList{"-h", "--help", "--version"}.contains(first))
        return {};
    if (first.startsWith(QLatin1Char('-')))
        return QStringLiteral("There is no option \"%1\" before a command; ").arg(first) + known;
    return QStringLiteral("There is no command \"%1\"; ").arg(first) + known + QLatin1Char('.') +
           didYouMean(first, names);
}

int CommandLine::refuse(const QString& message) const {
    std::string help = kProgram;
    for (const CLI::App* command : m_app.get_subcommands())
        help += ' ' + command->get_name();
    std::cerr << kProgram << ": " << message.toLocal8Bit().constData() << " (see " << help
              << " --help)\n";
    return static_cast<int>(ExitStatus::BadInput);
}

std::variant<Arguments, int> CommandLine::parse(int argc, const char* const* argv) {
    if (const QString wrong = unknownCommand(argc, argv); !wrong.isEmpty())
        return refuse(wrong);
    try {
        m_app.parse(argc, argv);
    } catch (const CLI::Success& wanted) { // --help, --version
        return m_app.exit(wanted);
    } catch (const CLI::ArgumentMismatch& error) { // "--db: 1 required FILE missing"
        return refuse(QString::fromLocal8Bit(error.what())
                          .replace(QStringLiteral(": 1 required "), QStringLiteral(" needs a "))
                          .remove(QStringLiteral(" missing")));
    } catch (const CLI::Error& error) {
        return refuse(QString::fromLocal8Bit(error.what()));
    }
    for (const auto& [subcommand, command] : m_commands) {
        if (subcommand->parsed())
            return arguments(command, m_raw);
    }
    return static_cast<int>(ExitStatus::BadInput);
}

} // namespace

std::variant<Arguments, int> parseArguments(int argc, const char* const* argv) {
    return CommandLine().parse(argc, argv);
}

} // namespace knobscope::cli
