// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/databasefile.h"

#include <QFile>
#include <QFileInfo>

#include <fcntl.h>
#include <unistd.h>

namespace knobscope {

namespace {

/// Rights of the effective user, and false on a file system that is mounted read-only.
bool mayWrite(const QString& path) {
    return faccessat(AT_FDCWD, QFile::encodeName(path).constData(), W_OK, AT_EACCESS) == 0;
}

/// SQLite opens a file late; the first read shows whether it can be read.
Result<std::unique_ptr<Database>> opened(const QString& path, Database::Access access) {
    auto database = Database::open(path, access);
    if (!database)
        return database;
    if (auto read = (*database)->value("SELECT COUNT(*) FROM sqlite_schema"); !read)
        return tl::unexpected(read.error());
    return database;
}

tl::unexpected<Error> logCannotBeRead(const QString& path) {
    return fail(Error::Code::Storage,
                QStringLiteral("The newest part of %1 lies in %1-wal, which can only be read where "
                               "it can be written")
                    .arg(path),
                QStringLiteral("copy both files to a folder of yours and name the copy"));
}

} // namespace

Result<void> checkSize(const QString& path) {
    constexpr qint64 kSmallest = 512; // one page of the smallest size
    const qint64 size = QFileInfo(path).size();
    if (size == 0 || size >= kSmallest)
        return {};
    return fail(Error::Code::Storage, QStringLiteral("%1 is no SQLite database").arg(path),
                QStringLiteral("use another file; this one was left as it is"));
}

Result<std::unique_ptr<Database>> openFileToRead(const QString& path) {
    const QFileInfo file(path);
    if (path.isEmpty() || file.isDir())
        return fail(Error::Code::Storage, QStringLiteral("\"%1\" cannot be a database").arg(path),
                    QStringLiteral("name a file"));
    if (!file.exists())
        return fail(Error::Code::BadInput, QStringLiteral("There is no database %1").arg(path),
                    QStringLiteral("see whether the name is right"));
    if (file.size() == 0)
        return fail(Error::Code::Storage, QStringLiteral("%1 is empty").arg(path),
                    QStringLiteral("name a database of runs"));
    if (auto size = checkSize(path); !size)
        return tl::unexpected(size.error());
    const QString real = file.canonicalFilePath(); // the log is beside it, not beside a link to it
    if (mayWrite(real) && mayWrite(QFileInfo(real).path()))
        return nullptr;

    // A journal tells of a database that does not use a log. Without either nobody has the file
    // open, and all there is stands in it. SQLite would not read it by its usual way, as that needs
    // to make a log.
    const QFileInfo log(real + QStringLiteral("-wal"));
    if (QFileInfo::exists(real + QStringLiteral("-journal")))
        return opened(real, Database::Access::Read);
    if (!log.exists())
        return opened(real, Database::Access::Frozen);
    // With a log, its index must be there too: made by us, it would be a file that the owner of
    // the database might not be able to write.
    if (QFileInfo::exists(real + QStringLiteral("-shm"))) {
        if (auto database = opened(real, Database::Access::Read); database)
            return database;
    }
    if (log.size() == 0)
        return opened(real, Database::Access::Frozen);
    return logCannotBeRead(real);
}

} // namespace knobscope
