// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/sshconfig.h"

#include <QDir>
#include <QMap>
#include <QProcess>
#include <QRegularExpression>
#include <QUrl>

#include <algorithm>
#include <array>
#include <vector>

#include <pwd.h>
#include <unistd.h>

namespace knobscope {

namespace {

tl::unexpected<Error> badTarget(const QString& text, const QString& why) {
    return fail(Error::Code::BadInput, QStringLiteral("\"%1\" is no host name for ssh").arg(text),
                why);
}

bool hasOddCharacters(const QString& text) {
    return std::any_of(text.begin(), text.end(), [](QChar c) {
        return c.isSpace() || !c.isPrint() || QStringView(u"'\"`$\\;&<>|(){}").contains(c);
    });
}

Result<SshTarget> checkedTarget(SshTarget target, const QString& text) {
    if (target.host.isEmpty())
        return badTarget(text, QStringLiteral("the name is empty"));
    if (target.host.startsWith(u'-') || target.user.startsWith(u'-'))
        return badTarget(text, QStringLiteral("it begins with a dash"));
    if (hasOddCharacters(target.host) || hasOddCharacters(target.user))
        return badTarget(text, QStringLiteral("it has characters that do not belong in a name"));
    return target;
}

QString homeOf(const QString& user) {
    if (user.isEmpty())
        return QDir::homePath();
    std::vector<char> buffer(16384);
    passwd entry{};
    passwd* found = nullptr;
    getpwnam_r(user.toLocal8Bit().constData(), &entry, buffer.data(), buffer.size(), &found);
    return found ? QString::fromLocal8Bit(found->pw_dir) : QString();
}

QString localUser() {
    std::vector<char> buffer(16384);
    passwd entry{};
    passwd* found = nullptr;
    getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found);
    return found ? QString::fromLocal8Bit(found->pw_name) : QString();
}

QString localHost() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return QString::fromLocal8Bit(name.data());
}

/// "none" is how ssh says that there is none.
QString orEmpty(const QString& value) {
    return value == QLatin1String("none") ? QString() : value;
}

} // namespace

Result<SshTarget> SshTarget::parse(const QString& text) {
    SshTarget target;
    QString rest = text.trimmed();
    if (rest.startsWith(QLatin1String("ssh://"))) {
        const QUrl url(rest, QUrl::StrictMode);
        if (!url.isValid() || url.host().isEmpty())
            return badTarget(text, QStringLiteral("expected ssh://user@host:port"));
        if (!url.password().isEmpty())
            return badTarget(text, QStringLiteral("passwords do not belong there"));
        if ((!url.path().isEmpty() && url.path() != QLatin1String("/")) || url.hasQuery() ||
            url.hasFragment() || url.port() == 0)
            return badTarget(text, QStringLiteral("expected ssh://user@host:port"));
        target.host = url.host();
        target.user = url.userName();
        target.port = std::max(url.port(), 0);
    } else {
        const qsizetype at = rest.lastIndexOf(u'@');
        if (at == 0)
            return badTarget(text, QStringLiteral("the user before @ is missing"));
        target.user = at > 0 ? rest.left(at) : QString();
        target.host = rest.mid(at + 1);
    }
    return checkedTarget(std::move(target), text);
}

Result<SshTarget> SshTarget::parseJump(const QString& text) {
    if (text.trimmed().startsWith(QLatin1String("ssh://")))
        return parse(text);
    static const QRegularExpression form(
        QStringLiteral("\\A(?:(.+)@)?(?:\\[([^\\]]*)\\]|([^:@\\[\\]]*))(?::(\\d{1,5}))?\\z"));
    const auto match = form.match(text.trimmed());
    SshTarget target;
    target.user = match.captured(1);
    target.host = match.captured(2) + match.captured(3);
    target.port = match.captured(4).toInt();
    if (!match.hasMatch() || target.port > 65535 || (target.port == 0 && match.hasCaptured(4)))
        return badTarget(text, QStringLiteral("a jump host is given as user@host:port"));
    return checkedTarget(std::move(target), text);
}

Result<SshConfig> SshConfig::parse(const QByteArray& output, const QString& name) {
    QMap<QString, QStringList> values;
    for (const QByteArray& line : output.split('\n')) {
        const qsizetype space = line.indexOf(' ');
        if (space <= 0)
            continue;
        values[QString::fromUtf8(line.left(space)).toLower()]
            << QString::fromUtf8(line.mid(space + 1)).trimmed();
    }
    const auto one = [&values](const char* key) {
        return values.value(QString::fromLatin1(key)).value(0);
    };
    const auto yes = [&one](const char* key) {
        return one(key) == QLatin1String("yes") || one(key) == QLatin1String("true");
    };
    const auto no = [&one](const char* key) {
        return one(key) == QLatin1String("no") || one(key) == QLatin1String("false");
    };
    SshConfig config;
    config.name = name;
    config.hostname = one("hostname");
    config.port = one("port").toInt();
    config.user = one("user");
    if (config.hostname.isEmpty() || config.user.isEmpty() || config.port < 1 ||
        config.port > 65535)
        return fail(Error::Code::HostUnusable,
                    QStringLiteral("ssh -G gives no host name, user or port for %1").arg(name));
    config.addressFamily = one("addressfamily");
    config.bindAddress = one("bindaddress");
    config.hostKeyAlias = one("hostkeyalias");
    config.identityFiles = values.value(QStringLiteral("identityfile"));
    config.identityFiles.removeAll(QStringLiteral("none"));
    config.certificateFiles = values.value(QStringLiteral("certificatefile"));
    config.certificateFiles.removeAll(QStringLiteral("none"));
    config.identitiesOnly = yes("identitiesonly");
    config.identityAgent = one("identityagent");
    config.pubkeyAuthentication = !no("pubkeyauthentication");
    config.passwordAuthentication = !no("passwordauthentication");
    config.kbdInteractiveAuthentication = !no("kbdinteractiveauthentication");
    config.batchMode = yes("batchmode");
    const int prompts = one("numberofpasswordprompts").toInt();
    config.passwordPrompts = prompts > 0 ? prompts : config.passwordPrompts;
    config.userKnownHosts = one("userknownhostsfile").split(u' ', Qt::SkipEmptyParts);
    config.userKnownHosts.removeAll(QStringLiteral("none"));
    config.globalKnownHosts = one("globalknownhostsfile").split(u' ', Qt::SkipEmptyParts);
    config.globalKnownHosts.removeAll(QStringLiteral("none"));
    config.revokedHostKeys = orEmpty(one("revokedhostkeys"));
    config.hashKnownHosts = yes("hashknownhosts");
    const QString strict = one("stricthostkeychecking");
    config.acceptNew = strict == QLatin1String("accept-new") || strict == QLatin1String("no") ||
                       strict == QLatin1String("off") || strict == QLatin1String("false");
    config.refuseNew = strict == QLatin1String("yes") || strict == QLatin1String("true");
    config.hostKeyAlgorithms = one("hostkeyalgorithms");
    config.kexAlgorithms = one("kexalgorithms");
    config.ciphers = one("ciphers");
    config.macs = one("macs");
    config.proxyJump = orEmpty(one("proxyjump"));
    config.proxyCommand = orEmpty(one("proxycommand"));
    config.proxyPassesSocket = yes("proxyusefdpass");
    config.connectTimeoutSeconds = std::max(one("connecttimeout").toInt(), 0);
    return config;
}

Result<SshConfig> SshConfig::resolve(const SshTarget& target, const QString& file,
                                     const Patience& patience) {
    QStringList arguments{QStringLiteral("-G")};
    if (!file.isEmpty())
        arguments << QStringLiteral("-F") << file;
    if (!target.user.isEmpty())
        arguments << QStringLiteral("-l") << target.user;
    if (target.port > 0)
        arguments << QStringLiteral("-p") << QString::number(target.port);
    if (!target.key.isEmpty())
        arguments << QStringLiteral("-i") << target.key;
    if (!target.jump.isEmpty())
        arguments << QStringLiteral("-J") << target.jump;
    arguments << QStringLiteral("--") << target.host;
    QProcess ssh;
    ssh.setStandardInputFile(QProcess::nullDevice());
    ssh.start(QStringLiteral("ssh"), arguments);
    if (!ssh.waitForStarted())
        return fail(Error::Code::HostUnusable, QStringLiteral("cannot run ssh on this computer"),
                    QStringLiteral("%1; install the OpenSSH client").arg(ssh.errorString()));
    while (!ssh.waitForFinished(patience.slice()) && ssh.state() != QProcess::NotRunning) {
        // A Match exec in the user's configuration may take its time.
        if (auto over = patience.over(QStringLiteral("ssh -G"))) {
            ssh.kill();
            ssh.waitForFinished(1000);
            return tl::unexpected<Error>(*over);
        }
    }
    if (ssh.exitStatus() != QProcess::NormalExit || ssh.exitCode() != 0)
        return fail(Error::Code::HostUnusable,
                    QStringLiteral("ssh cannot resolve %1 with its configuration").arg(target.host),
                    QString::fromLocal8Bit(ssh.readAllStandardError()).trimmed());
    return parse(ssh.readAllStandardOutput(), target.host);
}

QString SshConfig::expanded(const QString& path) const {
    QString result = path;
    if (result.startsWith(u'~')) {
        const qsizetype end = result.indexOf(u'/');
        const QString user = result.mid(1, end < 0 ? -1 : end - 1);
        result = homeOf(user) + (end < 0 ? QString() : result.mid(end));
    }
    return expandedTokens(result);
}

QString SshConfig::account() const {
    return QStringLiteral("%1@%2:%3").arg(user, hostname).arg(port);
}

QString SshConfig::expandedTokens(const QString& text) const {
    QString out;
    for (qsizetype i = 0; i < text.size(); ++i) {
        if (text[i] != u'%' || i + 1 == text.size()) {
            out += text[i];
            continue;
        }
        switch (text[++i].toLatin1()) {
        case '%':
            out += u'%';
            break;
        case 'd':
            out += QDir::homePath();
            break;
        case 'h':
            out += hostname;
            break;
        case 'i':
            out += QString::number(getuid());
            break;
        case 'k':
            out += hostKeyAlias.isEmpty() ? hostname : hostKeyAlias;
            break;
        case 'L':
            out += localHost().section(u'.', 0, 0);
            break;
        case 'l':
            out += localHost();
            break;
        case 'n':
            out += name;
            break;
        case 'p':
            out += QString::number(port);
            break;
        case 'r':
            out += user;
            break;
        case 'u':
            out += localUser();
            break;
        default:
            out += QStringLiteral("%") + text[i];
        }
    }
    return out;
}

} // namespace knobscope
