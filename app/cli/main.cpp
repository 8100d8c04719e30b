// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"

#include <QApplication>

#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <langinfo.h>
#include <unistd.h>

using namespace knobscope;

namespace {

/// Qt takes file names and arguments for UTF-8 and warns in locales of another encoding.
void useUtf8() {
    std::setlocale(LC_ALL, "");
    if (qstrcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        qputenv("LC_ALL", "C.UTF-8");
}

/// The library's warnings are for developers; what users must know comes as an Error.
void onLibraryMessage(QtMsgType type, const QMessageLogContext&, const QString& text) {
    if (type == QtCriticalMsg || type == QtFatalMsg)
        std::fprintf(stderr, "knobscope-cli: %s\n", qUtf8Printable(text));
}

std::unique_ptr<QCoreApplication> makeApplication(bool draws, int& argc, char** argv) {
    if (!draws)
        return std::make_unique<QCoreApplication>(argc, argv);
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    return std::make_unique<QApplication>(argc, argv);
}

/// A file or a connection opened later would else take the number of a standard stream that is
/// closed ("run FILE >&-"), and what is printed would go into it.
void openStandardStreams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDWR) != stream)
            std::abort(); // the lowest free number is this one
    }
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
    openStandardStreams();
    useUtf8();
    // A reader that goes away ("| head") must not end the program before the knobs are back and
    // the files are written.
    std::signal(SIGPIPE, SIG_IGN);
    const auto parsed = cli::parseArguments(argc, argv);
    if (const int* status = std::get_if<int>(&parsed))
        return *status;
    const auto& arguments = std::get<cli::Arguments>(parsed);
    qInstallMessageHandler(onLibraryMessage);
    // Qt must not take options of ours ("--style") for its own.
    int one = 1;
    const auto application = makeApplication(arguments.drawsFigure(), one, argv);
    QCoreApplication::setApplicationName(QStringLiteral("knobscope-cli"));
    QCoreApplication::setApplicationVersion(QStringLiteral(KNOBSCOPE_VERSION));
    cli::Console console;
    const int status = dispatch(arguments, console);
    if (console.outputError().isEmpty())
        return status;
    console.error(QStringLiteral("Standard output could not be written: ") + console.outputError());
    // A run is as it is, whoever hears of it; the other commands have nothing but what they print.
    return status == 0 && !arguments.measures() ? static_cast<int>(ExitStatus::SamplesFailed)
                                                : status;
}
