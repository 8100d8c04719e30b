// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/mainwindow.h"
#include "db/runrepository.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QFileInfo>
#include <QThreadPool>

using namespace knobscope;

int main(int argc, char* argv[]) {
    QApplication app(argc, argv);
    QApplication::setApplicationName(QStringLiteral("knobscope"));
    QApplication::setApplicationDisplayName(QStringLiteral("Knobscope"));
    QApplication::setApplicationVersion(QStringLiteral(KNOBSCOPE_VERSION));
    QApplication::setDesktopFileName(QStringLiteral("knobscope"));

    QCommandLineParser parser;
    parser.setApplicationDescription(
        QStringLiteral("Sets knobs on hosts, measures the network at each setting, puts every knob "
                       "back, and shows which setting won."));
    parser.addHelpOption();
    parser.addVersionOption();
    const QCommandLineOption database(QStringLiteral("db"),
                                      QStringLiteral("Database with the runs."),
                                      QStringLiteral("FILE"), RunRepository::defaultPath());
    const QCommandLineOption sshConfig(QStringLiteral("ssh-config"),
                                       QStringLiteral("Configuration file for ssh."),
                                       QStringLiteral("FILE"));
    parser.addOptions({database, sshConfig});
    parser.addPositionalArgument(QStringLiteral("experiment"),
                                 QStringLiteral("Experiment file (JSON) to open."),
                                 QStringLiteral("[experiment.json]"));
    parser.process(app);

    QThreadPool pool;
    AppContext context;
    context.database = QFileInfo(parser.value(database)).absoluteFilePath();
    context.hosts.sshConfig = parser.value(sshConfig);
    context.pool = &pool;
    MainWindow window(context);
    window.show();
    if (!parser.positionalArguments().isEmpty())
        window.openExperimentFile(parser.positionalArguments().constFirst());
    return QApplication::exec();
}
