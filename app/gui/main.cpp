// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/dialogsecrets.h"
#include "app/gui/looks.h"
#include "app/gui/mainwindow.h"
#include "core/host/keychain.h"
#include "core/host/savedhosts.h"
#include "db/runrepository.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QThreadPool>

#include <algorithm>
#include <cstdio>
#include <memory>

using namespace knobscope;

namespace {

constexpr int kBadArguments = 2; ///< as the headless program

const QCommandLineOption kDatabase(QStringLiteral("db"), QStringLiteral("Database with the runs."),
                                   QStringLiteral("FILE"));
const QCommandLineOption kSshConfig(QStringLiteral("ssh-config"),
                                    QStringLiteral("Configuration file for ssh."),
                                    QStringLiteral("FILE"));

/// Help and version must work without a display.
bool needsNoWindow(int argc, char* argv[]) {
    const QStringList plain = {QStringLiteral("-h"), QStringLiteral("--help"),
                               QStringLiteral("--help-all"), QStringLiteral("-v"),
                               QStringLiteral("--version")};
    return std::any_of(argv + 1, argv + argc, [&](const char* argument) {
        return plain.contains(QString::fromLocal8Bit(argument));
    });
}

void describe(QCommandLineParser& parser) {
    parser.setApplicationDescription(
        QStringLiteral("Sets knobs on hosts, measures the network at each setting, puts every knob "
                       "back, and shows which setting won."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addOptions({kDatabase, kSshConfig});
    parser.addPositionalArgument(QStringLiteral("experiment"),
                                 QStringLiteral("Experiment file (JSON) to open."),
                                 QStringLiteral("[experiment.json]"));
}

int showWindow(const QCommandLineParser& parser) {
    QApplication::setPalette(withReadableHints(QApplication::palette()));
    QThreadPool pool;
    AppContext context;
    context.database =
        QFileInfo(parser.isSet(kDatabase) ? parser.value(kDatabase) : RunRepository::defaultPath())
            .absoluteFilePath();
    context.hosts.sshConfig = parser.value(kSshConfig);
    context.hosts.savedHosts = defaultSavedHostsPath();
    context.hosts.sudo = SudoMode::Auto;
    const auto keychain = std::make_shared<Keychain>();
    context.hosts.secrets = std::make_shared<SecretMemory>(std::make_shared<KeptSecrets>(
        keychain, std::make_shared<DialogSecrets>([keychain] { return keychain->usable(); })));
    context.pool = &pool;
    MainWindow window(context);
    window.show();
    if (!parser.positionalArguments().isEmpty())
        window.openExperimentFile(parser.positionalArguments().constFirst());
    return QApplication::exec();
}

} // namespace

int main(int argc, char* argv[]) {
    const bool plain = argc > 0 && needsNoWindow(argc, argv);
    const std::unique_ptr<QCoreApplication> app(plain ? new QCoreApplication(argc, argv)
                                                      : new QApplication(argc, argv));
    QCoreApplication::setApplicationName(QStringLiteral("knobscope"));
    QCoreApplication::setApplicationVersion(QStringLiteral(KNOBSCOPE_VERSION));
    QGuiApplication::setApplicationDisplayName(QStringLiteral("Knobscope"));
    QGuiApplication::setDesktopFileName(QStringLiteral("knobscope"));

    QCommandLineParser parser;
    describe(parser);
    if (plain)
        parser.process(*app); // answers and ends
    if (!parser.parse(QCoreApplication::arguments()) || parser.positionalArguments().size() > 1) {
        const QString reason = parser.errorText().isEmpty()
                                   ? QStringLiteral("One experiment file at most, please.")
                                   : parser.errorText();
        std::fputs(qPrintable(reason + QLatin1Char('\n')), stderr);
        return kBadArguments;
    }
    return showWindow(parser);
}
