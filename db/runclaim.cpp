// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/runclaim.h"

#include <QFile>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace knobscope {

namespace {

struct flock byteOf(qint64 run, short type) {
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(run);
    lock.l_len = 1;
    return lock;
}

} // namespace

RunClaims::RunClaims(const QString& databasePath) : m_path(databasePath + ".lock") {}

RunClaims::~RunClaims() {
    if (m_file >= 0)
        close(m_file);
}

Result<void> RunClaims::openFile() {
    if (m_file >= 0)
        return {};
    // Close on exec: a program started by this one must not keep the claim alive.
    m_file = open(QFile::encodeName(m_path).constData(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (m_file < 0)
        return fail(Error::Code::Storage,
                    QStringLiteral("The lock file %1 cannot be opened").arg(m_path),
                    QString::fromLocal8Bit(strerror(errno)));
    return {};
}

Result<void> RunClaims::claim(qint64 run) {
    if (m_held.contains(run))
        return {};
    if (auto opened = openFile(); !opened)
        return opened;
    struct flock lock = byteOf(run, F_WRLCK);
    if (fcntl(m_file, F_OFD_SETLK, &lock) == 0) {
        m_held.insert(run);
        return {};
    }
    if (errno == EAGAIN || errno == EACCES)
        return fail(Error::Code::BadInput,
                    QStringLiteral("Run %1 is being measured by another program").arg(run),
                    QStringLiteral("wait until it ends, or stop it there"));
    return fail(Error::Code::Storage,
                QStringLiteral("Run %1 cannot be locked in %2").arg(run).arg(m_path),
                QString::fromLocal8Bit(strerror(errno)));
}

void RunClaims::release(qint64 run) {
    if (!m_held.remove(run))
        return;
    struct flock lock = byteOf(run, F_UNLCK);
    (void)fcntl(m_file, F_OFD_SETLK, &lock);
}

Result<bool> RunClaims::claimed(qint64 run) {
    if (m_held.contains(run))
        return true; // a lock does not conflict with itself, so asking would say no
    // Asking makes no file: who only reads may be where nothing can be written.
    const int file =
        m_file >= 0 ? m_file : open(QFile::encodeName(m_path).constData(), O_RDONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT)
        return false; // claims are made in this file
    struct flock lock = byteOf(run, F_WRLCK);
    const bool asked = file >= 0 && fcntl(file, F_OFD_GETLK, &lock) == 0;
    const QString reason = asked ? QString() : QString::fromLocal8Bit(strerror(errno));
    if (file >= 0 && file != m_file)
        close(file);
    if (!asked)
        return fail(Error::Code::Storage, QStringLiteral("%1 cannot be examined").arg(m_path),
                    reason);
    return lock.l_type != F_UNLCK;
}

} // namespace knobscope
