// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/lab/labrun.h"

#include "db/runrepository.h"

#include <QElapsedTimer>
#include <QFile>
#include <QJsonDocument>

namespace knobscope::test {

CliProcess::CliProcess(const QStringList& arguments) {
    m_process.start(QStringLiteral(KNOBSCOPE_BINARY_DIR "/knobscope-cli"), arguments);
    m_process.waitForStarted();
}

CliProcess::~CliProcess() {
    if (m_process.state() != QProcess::NotRunning) {
        m_process.kill();
        m_process.waitForFinished();
    }
}

void CliProcess::takeLines() {
    m_pending += m_process.readAllStandardOutput();
    m_errors += m_process.readAllStandardError();
    for (qsizetype end = m_pending.indexOf('\n'); end >= 0; end = m_pending.indexOf('\n')) {
        m_events.append(QJsonDocument::fromJson(m_pending.left(end)).object());
        m_pending.remove(0, end + 1);
    }
}

bool CliProcess::waitFor(const std::function<bool(const QJsonObject&)>& wanted, int timeoutMs) {
    QElapsedTimer timer;
    timer.start();
    for (;;) {
        takeLines();
        while (m_seen < m_events.size()) {
            if (wanted(m_events.at(m_seen++)))
                return true;
        }
        if (m_process.state() == QProcess::NotRunning || timer.elapsed() > timeoutMs)
            return false;
        m_process.waitForReadyRead(100);
    }
}

bool CliProcess::waitForSample(int timeoutMs) {
    return waitFor(
        [](const QJsonObject& event) {
            return event.value(QStringLiteral("event")).toString() == QLatin1String("sample");
        },
        timeoutMs);
}

int CliProcess::waitForEnd(int timeoutMs) {
    QElapsedTimer timer;
    timer.start();
    while (m_process.state() != QProcess::NotRunning && timer.elapsed() < timeoutMs) {
        m_process.waitForFinished(100);
        takeLines();
    }
    takeLines();
    if (m_process.state() != QProcess::NotRunning || m_process.exitStatus() != QProcess::NormalExit)
        return -1;
    return m_process.exitCode();
}

bool CliProcess::hasEnded(int waitMs) {
    if (m_process.state() != QProcess::NotRunning)
        m_process.waitForFinished(waitMs);
    takeLines();
    return m_process.state() == QProcess::NotRunning;
}

QByteArray CliProcess::errorText() {
    takeLines();
    return m_errors;
}

LabRun::LabRun(const Lab& lab) : m_lab(lab) {}

QJsonObject LabRun::hosts() const {
    const auto host = [this](int number) {
        const Lab::Host& at = m_lab.host(number);
        return QJsonObject{{QStringLiteral("ssh"), at.name},
                           {QStringLiteral("address"), at.testAddress},
                           {QStringLiteral("interface"), at.testInterface}};
    };
    return {{QStringLiteral("sender"), host(0)}, {QStringLiteral("receiver"), host(1)}};
}

QString LabRun::write(const QJsonObject& experiment) const {
    QJsonObject whole{{QStringLiteral("format"), QStringLiteral("knobscope-experiment")},
                      {QStringLiteral("version"), 1},
                      {QStringLiteral("name"), QStringLiteral("Lab")},
                      {QStringLiteral("hosts"), hosts()}};
    for (auto it = experiment.begin(); it != experiment.end(); ++it)
        whole.insert(it.key(), it.value());
    QFile file(path(QStringLiteral("experiment.json")));
    if (!file.open(QIODevice::WriteOnly) || file.write(QJsonDocument(whole).toJson()) < 0)
        return {};
    return file.fileName();
}

QStringList LabRun::runArguments(const QString& file) const {
    return {QStringLiteral("run"),          file,
            QStringLiteral("--db"),         database(),
            QStringLiteral("--ssh-config"), m_lab.sshConfig(),
            QStringLiteral("--json")};
}

QStringList LabRun::resumeArguments(qint64 run) const {
    return {
        QStringLiteral("resume"),       QString::number(run), QStringLiteral("--db"),  database(),
        QStringLiteral("--ssh-config"), m_lab.sshConfig(),    QStringLiteral("--json")};
}

QString LabRun::sysctl(const QString& host, const QString& name) const {
    const QString file = QStringLiteral("/proc/sys/") + QString(name).replace(u'.', u'/');
    return QString::fromUtf8(m_lab.exec(host, {QStringLiteral("cat"), file}).out).simplified();
}

StoredRun LabRun::load(qint64 run) const {
    auto repository = RunRepository::open(database());
    if (!repository)
        qFatal("%s", qPrintable(repository.error().text()));
    auto stored = (*repository)->loadRun(run);
    if (!stored)
        qFatal("%s", qPrintable(stored.error().text()));
    return *stored;
}

QStringList LabRun::checkDatabase() const {
    auto repository = RunRepository::open(database());
    if (!repository)
        return {repository.error().text()};
    const auto problems = (*repository)->check();
    return problems ? *problems : QStringList{problems.error().text()};
}

qint64 LabRun::nstat(const QString& host, const QString& counter) const {
    const auto output =
        m_lab.exec(host, {QStringLiteral("nstat"), QStringLiteral("-asz"), counter});
    for (const QByteArray& line : output.out.split('\n')) {
        const auto words = QString::fromUtf8(line).simplified().split(u' ');
        if (words.size() >= 2 && words.first() == counter)
            return words.at(1).toLongLong();
    }
    return -1;
}

} // namespace knobscope::test
