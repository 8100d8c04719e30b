// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/keychain.h"

#include <QThread>

#include <future>

#include <qt6keychain/keychain.h>

namespace knobscope {

namespace {

using std::chrono::milliseconds;

const QString kService = QStringLiteral("knobscope");
/// So long it may take to find out whether there is one.
constexpr milliseconds kProbeLimit{5000};
/// The user may have to type the keychain's own password.
constexpr milliseconds kUnlockLimit{120000};

/// Where the library behind does its work. It stays with the thread that has used it first, so
/// there is one for the whole life of the program.
QObject& workplace() {
    static QObject* const context = [] {
        auto* thread = new QThread;
        auto* object = new QObject;
        object->moveToThread(thread);
        thread->start();
        return object;
    }();
    return *context;
}

} // namespace

struct Keychain::Answer {
    QKeychain::Error error = QKeychain::NoError;
    QString text; ///< of the error
    Secret secret;
};

Result<Keychain::Answer> Keychain::perform(Task task, const QString& id, const Secret* secret,
                                           milliseconds limit, const CancelToken& cancel) {
    const auto promise = std::make_shared<std::promise<Answer>>();
    auto future = promise->get_future();
    const QByteArray data = secret ? QByteArray(secret->c_str()) : QByteArray();
    QObject* const context = &workplace();
    QMetaObject::invokeMethod(context, [context, promise, task, id, data] {
        QKeychain::Job* job = nullptr;
        if (task == Task::Read) {
            job = new QKeychain::ReadPasswordJob(kService);
        } else if (task == Task::Remove) {
            job = new QKeychain::DeletePasswordJob(kService);
        } else {
            auto* writing = new QKeychain::WritePasswordJob(kService);
            writing->setTextData(QString::fromUtf8(data));
            job = writing;
        }
        job->setKey(id);
        job->setInsecureFallback(false);
        QObject::connect(job, &QKeychain::Job::finished, context, [promise](QKeychain::Job* done) {
            Answer answer;
            answer.error = done->error();
            answer.text = done->errorString();
            if (auto* read = qobject_cast<QKeychain::ReadPasswordJob*>(done))
                answer.secret = Secret(read->textData().toStdString());
            promise->set_value(std::move(answer));
        });
        job->start(); // deletes itself afterwards
    });
    const auto until = std::chrono::steady_clock::now() + limit;
    while (future.wait_for(milliseconds(20)) != std::future_status::ready) {
        if (cancel.cancelled())
            return fail(Error::Code::Cancelled, QStringLiteral("Stopped by the user"));
        if (std::chrono::steady_clock::now() >= until)
            return fail(Error::Code::HostUnusable,
                        QStringLiteral("the system's keychain does not answer"));
    }
    return future.get();
}

bool Keychain::usable() {
    const std::scoped_lock lock(m_mutex);
    if (!m_usable) {
        const auto answer = perform(Task::Read, QStringLiteral("probe"), nullptr, kProbeLimit, {});
        m_usable = answer && (answer->error == QKeychain::NoError ||
                              answer->error == QKeychain::EntryNotFound);
    }
    return *m_usable;
}

Result<std::optional<Secret>> Keychain::read(const QString& id, const CancelToken& cancel) {
    auto answer = perform(Task::Read, id, nullptr, kUnlockLimit, cancel);
    if (!answer)
        return tl::unexpected<Error>(answer.error());
    if (answer->error == QKeychain::EntryNotFound)
        return std::optional<Secret>();
    if (answer->error != QKeychain::NoError)
        return fail(Error::Code::HostUnusable,
                    QStringLiteral("the system's keychain gives nothing"), answer->text);
    return std::optional<Secret>(std::move(answer->secret));
}

Result<void> Keychain::write(const QString& id, const Secret& secret) {
    const auto answer = perform(Task::Write, id, &secret, kUnlockLimit, {});
    if (!answer)
        return tl::unexpected<Error>(answer.error());
    if (answer->error != QKeychain::NoError)
        return fail(Error::Code::HostUnusable,
                    QStringLiteral("the system's keychain does not keep it"), answer->text);
    return {};
}

Result<void> Keychain::remove(const QString& id) {
    const auto answer = perform(Task::Remove, id, nullptr, kUnlockLimit, {});
    if (!answer)
        return tl::unexpected<Error>(answer.error());
    if (answer->error != QKeychain::NoError && answer->error != QKeychain::EntryNotFound)
        return fail(Error::Code::HostUnusable,
                    QStringLiteral("the system's keychain does not forget it"), answer->text);
    return {};
}

} // namespace knobscope
