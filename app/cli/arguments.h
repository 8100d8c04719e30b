// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

#include <variant>

namespace knobscope::cli {

/// What the command line asks for. `command` is the subcommand; only its own fields are set.
struct Arguments {
    enum class Command { Run, Resume, Runs, Show, Export, Check, Recover };
    Command command = Command::Runs;
    QString file;      ///< run: experiment file
    QString run;       ///< resume, show, export: an id or "last"
    QStringList hosts; ///< check, recover: ssh names or "local"
    QString database;  ///< empty: RunRepository::defaultPath()
    QString exportDir; ///< run, resume: CSV and figure go there
    QString csvDir;    ///< export
    QString figure;    ///< export
    QString style;     ///< export: name for figureStyle()
    QString sshConfig;
    bool acceptNewKeys = false;
    bool dryRun = false;
    bool preflight = false;     ///< run: only check the hosts
    bool skipRefused = false;   ///< run, resume: measure the cells that can be
    bool allowCommands = false; ///< run, resume: command: knobs may run
    bool sudo = false;          ///< with a password, which is asked for
    bool json = false;
    bool quiet = false;

    [[nodiscard]] bool measures() const {
        return (command == Command::Run && !dryRun && !preflight) || command == Command::Resume;
    }
    /// Drawing needs the GUI library's application object; nothing else does.
    [[nodiscard]] bool drawsFigure() const { return !figure.isEmpty() || !exportDir.isEmpty(); }
};

/// Reads the command line. When there is nothing more to do (help was printed, or the arguments
/// are wrong and standard error says why) the exit status.
[[nodiscard]] std::variant<Arguments, int> parseArguments(int argc, const char* const* argv);

} // namespace knobscope::cli
