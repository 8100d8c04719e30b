// SPDX-License-Identifier: GPL-3.0-or-later
#include "agentprocess.h"

#include <QDeadlineTimer>
#include <QDir>
#include <QFile>

#include <sched.h>
#include <sys/stat.h>

using knobscope::Json;
namespace protocol = knobscope::protocol;

AgentProcess::AgentProcess() {
    m_process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    m_process.start(QStringLiteral(AGENT_PROGRAM), QStringList());
    if (!m_process.waitForStarted())
        qFatal("cannot start %s", AGENT_PROGRAM);
}

AgentProcess::~AgentProcess() {
    m_process.closeWriteChannel();
    if (m_process.state() != QProcess::NotRunning && !m_process.waitForFinished(10000)) {
        m_process.kill();
        m_process.waitForFinished();
    }
}

void AgentProcess::send(const QByteArray& bytes) {
    m_process.write(bytes);
    QDeadlineTimer deadline(10000);
    while (m_process.bytesToWrite() > 0 && !deadline.hasExpired()) {
        if (!m_process.waitForBytesWritten(static_cast<int>(deadline.remainingTime())))
            break;
    }
}

int AgentProcess::request(const char* method, const Json& params) {
    const Json message{
        {"jsonrpc", "2.0"}, {"id", ++m_lastId}, {"method", method}, {"params", params}};
    send(QByteArray::fromStdString(message.dump() + '\n'));
    return m_lastId;
}

std::optional<Json> AgentProcess::next(int timeoutMs) {
    QDeadlineTimer deadline(timeoutMs);
    while (!m_process.canReadLine()) {
        const auto left = static_cast<int>(deadline.remainingTime());
        if (left <= 0 || m_process.state() == QProcess::NotRunning)
            return std::nullopt;
        m_process.waitForReadyRead(left);
    }
    return std::make_optional<Json>(Json::parse(m_process.readLine().toStdString()));
}

std::optional<Json> AgentProcess::answer(int id, int timeoutMs) {
    QDeadlineTimer deadline(timeoutMs);
    while (auto message = next(static_cast<int>(deadline.remainingTime()))) {
        if (message->contains("method"))
            notifications.push_back(*message);
        else if ((*message)["id"] == id)
            return message;
    }
    return std::nullopt;
}

Json AgentProcess::call(const char* method, const Json& params) {
    const auto message = answer(request(method, params));
    return message ? *message : Json();
}

Json AgentProcess::hello(const std::string& run, double leaseSeconds, const std::string& group) {
    const Json message = call(protocol::method::kHello, {{"protocol", protocol::kVersion},
                                                         {"run", run},
                                                         {"group", group},
                                                         {"lease_seconds", leaseSeconds}});
    if (!message.is_object() || !message.contains("result"))
        return nullptr;
    m_worker = message["result"]["pid"].get<qint64>();
    return message["result"];
}

int AgentProcess::waitForEnd(int timeoutMs) {
    if (m_process.state() != QProcess::NotRunning && !m_process.waitForFinished(timeoutMs))
        return -1;
    return m_process.exitStatus() == QProcess::NormalExit ? m_process.exitCode() : -1;
}

QString text(const Json& value) {
    return QString::fromStdString(value.is_string() ? value.get<std::string>() : value.dump());
}

QString text(const QByteArray& value) {
    return QString::fromUtf8(value);
}

QString text(const char* value) {
    return QString::fromUtf8(value);
}

QByteArray readSysctl(const char* path) {
    QFile file(QLatin1String("/proc/sys/") + QLatin1String(path));
    return file.open(QIODevice::ReadOnly) ? file.readAll().trimmed() : QByteArray("unreadable");
}

bool isAlive(qint64 pid) {
    QFile file(QStringLiteral("/proc/%1/stat").arg(pid));
    if (!file.open(QIODevice::ReadOnly))
        return false;
    const QByteArray stat = file.readAll();
    const qsizetype state = stat.lastIndexOf(')') + 2;
    return state < stat.size() && stat.at(state) != 'Z' && stat.at(state) != 'X';
}

bool enterOwnNetwork() {
    return ::unshare(CLONE_NEWNET) == 0;
}

QStringList journalsHere() {
    struct stat info {};
    ::stat("/proc/self/ns/net", &info);
    const QByteArray mark = "\"netns\":" + QByteArray::number(info.st_ino);
    QStringList found;
    const QDir dir(QStringLiteral("/run/knobscope"));
    for (const QString& name : dir.entryList(QDir::Files)) {
        QFile file(dir.filePath(name));
        if (file.open(QIODevice::ReadOnly) && file.readAll().contains(mark))
            found.append(file.fileName());
    }
    return found;
}
