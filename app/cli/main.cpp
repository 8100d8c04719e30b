// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"

#include <QApplication>

#include <clocale>

#include <langinfo.h>

using namespace knobscope;

namespace {

/// Qt takes file names and arguments for UTF-8 and warns in locales of another encoding.
void useUtf8() {
    std::setlocale(LC_ALL, "");
    if (qstrcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        qputenv("LC_ALL", "C.UTF-8");
}

std::unique_ptr<QCoreApplication> makeApplication(bool draws, int& argc, char** argv) {
    if (!draws)
        return std::make_unique<QCoreApplication>(argc, argv);
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    return std::make_unique<QApplication>(argc, argv);
}

int dispatch(const cli::Arguments& arguments, cli::Console& console) {
    using Command = cli::Arguments::Command;
    switch (arguments.command) {
    case Command::Run:
        return cli::runExperiment(arguments, console);
    case Command::Resume:
        return cli::resumeRun(arguments, console);
    case Command::Runs:
        return cli::listRuns(arguments, console);
    case Command::Show:
        return cli::showRun(arguments, console);
    case Command::Export:
        return cli::exportRun(arguments, console);
    case Command::Check:
        return cli::checkHosts(arguments, console);
    case Command::Recover:
        return cli::recoverHosts(arguments, console);
    }
    return static_cast<int>(ExitStatus::BadInput);
}

} // namespace

int main(int argc, char* argv[]) {
    useUtf8();
    const auto parsed = cli::parseArguments(argc, argv);
    if (const int* status = std::get_if<int>(&parsed))
        return *status;
    const auto& arguments = std::get<cli::Arguments>(parsed);
    // Qt must not take options of ours ("--style") for its own.
    int one = 1;
    const auto application = makeApplication(arguments.drawsFigure(), one, argv);
    QCoreApplication::setApplicationName(QStringLiteral("knobscope-cli"));
    QCoreApplication::setApplicationVersion(QStringLiteral(KNOBSCOPE_VERSION));
    cli::Console console;
    return dispatch(arguments, console);
}
