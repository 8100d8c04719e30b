// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/savedhosts.h"

#include "core/host/sshconfig.h"
#include "core/model/hostcheck.h"
#include "core/model/objectreader.h"
#include "core/model/strictjson.h"

#include <QDir>
#include <QFileInfo>
#include <QSaveFile>
#include <QSet>
#include <QStandardPaths>

#include <algorithm>

namespace knobscope {

namespace {

constexpr qint64 kMaxFileBytes = qint64{1} << 20;
constexpr const char* kVersionKey = "knobscope_hosts";
constexpr int kVersion = 1;
constexpr std::initializer_list<SudoMode> kSudoModes = {SudoMode::None, SudoMode::Auto,
                                                        SudoMode::Password};

tl::unexpected<Error> badField(const char* field, const QString& what) {
    return fail(Error::Code::BadInput, QStringLiteral("%1: %2").arg(QLatin1String(field), what));
}

bool hasControlCharacters(const QString& text) {
    return std::any_of(text.begin(), text.end(), [](QChar c) { return !c.isPrint(); });
}

SavedHost readOne(ObjectReader& all, const Json& json, const QString& path) {
    ObjectReader reader(json, path);
    QStringList keys;
    for (const char* key :
         {"name", "ssh", "user", "port", "key", "jump", "sudo", "address", "interface"})
        keys << QLatin1String(key);
    reader.allow(keys);
    SavedHost host;
    host.name = reader.string("name", true);
    host.ssh = reader.string("ssh", true);
    host.user = reader.string("user", false);
    host.port = reader.wholeNumber("port", 0);
    host.key = reader.string("key", false);
    host.jump = reader.string("jump", false);
    host.address = reader.string("address", false);
    host.interface = reader.string("interface", false);
    const QString sudo = reader.string("sudo", false);
    for (const SudoMode mode : kSudoModes) {
        if (sudo == sudoModeName(mode))
            host.sudo = mode;
    }
    if (!sudo.isEmpty() && !host.sudo)
        reader.fail(reader.pathOf(QStringLiteral("sudo")),
                    QStringLiteral("must be none, auto or password."));
    if (!reader.error()) {
        if (const auto good = checkSavedHost(host); !good)
            reader.fail(path, good.error().text());
    }
    all.take(reader);
    return host;
}

Result<QList<SavedHost>> parse(const QByteArray& text) {
    const auto json = parseStrictJson(text);
    if (!json)
        return tl::unexpected<Error>(json.error());
    ObjectReader root(*json, {});
    root.allow({QLatin1String(kVersionKey), QStringLiteral("hosts")});
    if (root.wholeNumber(kVersionKey, 0) != kVersion)
        root.fail(QLatin1String(kVersionKey), QStringLiteral("must be %1.").arg(kVersion));
    QList<SavedHost> hosts;
    QSet<QString> names;
    const Json list = root.array("hosts", true);
    for (std::size_t i = 0; i < list.size() && !root.error(); ++i) {
        const QString path = QStringLiteral("hosts[%1]").arg(i);
        hosts << readOne(root, list[i], path);
        if (names.contains(hosts.last().name))
            root.fail(path,
                      QStringLiteral("the name \"%1\" is there twice.").arg(hosts.last().name));
        names << hosts.last().name;
    }
    if (root.error())
        return tl::unexpected<Error>(*root.error());
    return hosts;
}

Json written(const SavedHost& host) {
    Json json = Json::object();
    const auto put = [&json](const char* key, const QString& text) {
        if (!text.isEmpty())
            json[key] = text.toStdString();
    };
    put("name", host.name);
    put("ssh", host.ssh);
    put("user", host.user);
    if (host.port != 0)
        json["port"] = host.port;
    put("key", host.key);
    put("jump", host.jump);
    put("sudo", host.sudo ? sudoModeName(*host.sudo) : QString());
    put("address", host.address);
    put("interface", host.interface);
    return json;
}

} // namespace

HostSpec SavedHost::spec() const {
    HostSpec host;
    host.ssh = name;
    host.address = address;
    host.interface = interface;
    return host;
}

QString SavedHost::login() const {
    QString text = user.isEmpty() ? ssh : QStringLiteral("%1@%2").arg(user, ssh);
    if (port != 0)
        text +=
            (ssh.contains(u':') ? QStringLiteral(", port %1") : QStringLiteral(":%1")).arg(port);
    if (!jump.isEmpty())
        text += QStringLiteral(", through %1").arg(jump);
    return text;
}

QString sudoModeName(SudoMode mode) {
    switch (mode) {
    case SudoMode::None:
        return QStringLiteral("none");
    case SudoMode::Auto:
        return QStringLiteral("auto");
    case SudoMode::Password:
        return QStringLiteral("password");
    }
    return {};
}

QString defaultSavedHostsPath() {
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) +
           QStringLiteral("/knobscope/hosts.json");
}

Result<QList<SavedHost>> readSavedHosts(const QString& path) {
    const QFileInfo info(path);
    if (!info.exists())
        return QList<SavedHost>();
    const auto bad = [&path](const QString& what) {
        return fail(Error::Code::BadInput, QStringLiteral("%1 (the saved hosts)").arg(path), what);
    };
    // Reading a pipe or a device could wait for ever.
    if (!info.isFile())
        return bad(QStringLiteral("is no regular file"));
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return bad(file.errorString());
    if (info.size() > kMaxFileBytes)
        return bad(QStringLiteral("is larger than %1 bytes").arg(kMaxFileBytes));
    auto hosts = parse(file.read(kMaxFileBytes));
    if (!hosts)
        return bad(hosts.error().text());
    return hosts;
}

Result<void> writeSavedHosts(const QString& path, const QList<SavedHost>& hosts) {
    Json list = Json::array();
    for (const SavedHost& host : hosts)
        list.push_back(written(host));
    const std::string text = Json{{kVersionKey, kVersion}, {"hosts", list}}.dump(2) + '\n';
    QDir().mkpath(QFileInfo(path).absolutePath());
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) ||
        file.write(text.data(), static_cast<qint64>(text.size())) < 0 || !file.commit())
        return fail(Error::Code::Storage, QStringLiteral("cannot save the hosts in %1").arg(path),
                    file.errorString());
    return {};
}

Result<void> checkSavedHost(const SavedHost& host) {
    if (host.name.isEmpty())
        return badField("name", QStringLiteral("give the host a name"));
    if (host.name == QLatin1String("local"))
        return badField("name", QStringLiteral("\"local\" is this computer"));
    if (const auto name = SshTarget::parse(host.name);
        !name || name->host != host.name) // experiments write it where others write user@host
        return badField("name", QStringLiteral("letters, digits, dots and dashes make a name"));
    if (host.ssh.isEmpty())
        return badField("ssh", QStringLiteral("give an address, or a name that ssh knows"));
    if (const auto target = SshTarget::parse(host.ssh); !target)
        return badField("ssh", target.error().text());
    else if (target->host != host.ssh)
        return badField("ssh", QStringLiteral("user and port have fields of their own"));
    if (!host.user.isEmpty()) {
        const auto target = SshTarget::parse(host.user + QStringLiteral("@host"));
        if (!target || target->user != host.user)
            return badField("user", QStringLiteral("\"%1\" is no user name").arg(host.user));
    }
    if (host.port < 0 || host.port > 65535)
        return badField("port", QStringLiteral("must be from 1 to 65535"));
    if (hasControlCharacters(host.key))
        return badField("key", QStringLiteral("has characters that do not belong in a file name"));
    if (!host.jump.isEmpty()) {
        for (const QString& jump : host.jump.split(u',')) {
            if (const auto target = SshTarget::parseJump(jump); !target)
                return badField("jump", target.error().text());
        }
    }
    if (!host.address.isEmpty() && !isAddress(host.address))
        return badField("address", QStringLiteral("must be an IPv4 or IPv6 address in numbers"));
    if (!host.interface.isEmpty() && !isInterfaceName(host.interface))
        return badField("interface", QStringLiteral("is no name of an interface"));
    return {};
}

Result<std::optional<SavedHost>> findSavedHost(const QString& path, const QString& name) {
    if (path.isEmpty())
        return std::nullopt;
    const auto hosts = readSavedHosts(path);
    if (!hosts)
        return tl::unexpected<Error>(hosts.error());
    for (const SavedHost& host : *hosts) {
        if (host.name == name)
            return host;
    }
    return std::nullopt;
}

} // namespace knobscope
