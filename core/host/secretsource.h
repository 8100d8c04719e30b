// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/canceltoken.h"
#include "core/result.h"

#include <QString>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

namespace knobscope {

/// A passphrase, a password or another answer of the user. Its bytes are wiped when it goes.
class Secret {
public:
    Secret() = default;
    /// `keep`: the user wants it to be kept in the system's keychain.
    explicit Secret(std::string_view text, bool keep = false);
    Secret(Secret&& other) noexcept = default;
    Secret& operator=(Secret&& other) noexcept;
    Secret(const Secret&) = delete;
    Secret& operator=(const Secret&) = delete;
    ~Secret() { wipe(); }

    [[nodiscard]] Secret copy() const { return Secret(view(), m_keep); }
    [[nodiscard]] std::string_view view() const;
    /// With a zero at the end, for C; never null.
    [[nodiscard]] const char* c_str() const { return m_bytes.empty() ? "" : m_bytes.data(); }
    [[nodiscard]] bool isEmpty() const { return m_bytes.size() < 2; }
    [[nodiscard]] bool keep() const { return m_keep; }

private:
    void wipe();

    std::vector<char> m_bytes; ///< with the zero; a vector, as it never leaves copies behind
    bool m_keep = false;
};

/// One question to the user while a host is being reached.
struct SecretRequest {
    enum class Kind {
        KeyPassphrase,
        KeyboardInteractive, ///< any question of the host's, such as a code
        Password,
        SudoPassword,
    };
    Kind kind = Kind::Password;
    QString host;        ///< as the user calls it; a jump host as the ssh configuration does
    QString user;        ///< who logs in there
    QString account;     ///< "user@address:port": the same login, whatever the host is called
    QString keyFile;     ///< KeyPassphrase
    QString instruction; ///< KeyboardInteractive: what the host says before its questions
    QString prompt;      ///< the question, in one line
    bool echo = false;   ///< what is typed may be seen
    int attempt = 1;     ///< more: the answer before was wrong

    /// The same for all requests that the same answer is right for.
    [[nodiscard]] QString id() const;
    /// The answer will do again later; not so for codes that count once.
    [[nodiscard]] bool lasting() const;
};

/// A host key that known_hosts does not have.
struct NewHostKey {
    QString host;        ///< as the user calls it
    QString name;        ///< as known_hosts would: "host", "[host]:port"
    QString type;        ///< ssh-ed25519, ...
    QString fingerprint; ///< "SHA256:..."
};

/// Answers what reaching a host needs: a dialog, a terminal, a keychain. Called on the thread that
/// reaches the host, from several at once; may block for as long as the user thinks.
class SecretSource {
public:
    virtual ~SecretSource() = default;

    /// Errors: Cancelled when the user wants to stop or `cancel` was set; HostUnusable, with the
    /// reason, when nobody can be asked: the login then goes on without the answer.
    virtual Result<Secret> ask(const SecretRequest& request, const CancelToken& cancel) = 0;
    /// Says afterwards whether the host, or the key, took the answer.
    virtual void judge(const SecretRequest& request, const Secret& answer, bool right);
    /// May this key be trusted, and go into known_hosts? Errors as for ask().
    virtual Result<bool> trusts(const NewHostKey& key, const CancelToken& cancel);
};

/// Remembers right answers while the program runs, so that the user is asked once for a key that
/// opens sixteen hosts, and not again when a run reaches a lost host anew. One question at a time
/// goes on to the source behind.
class SecretMemory final : public SecretSource {
public:
    explicit SecretMemory(std::shared_ptr<SecretSource> behind) : m_behind(std::move(behind)) {}

    Result<Secret> ask(const SecretRequest& request, const CancelToken& cancel) override;
    void judge(const SecretRequest& request, const Secret& answer, bool right) override;
    Result<bool> trusts(const NewHostKey& key, const CancelToken& cancel) override;

private:
    /// Waits its turn; false when cancelled meanwhile.
    [[nodiscard]] bool lock(std::unique_lock<std::timed_mutex>& turn, const CancelToken& cancel);

    const std::shared_ptr<SecretSource> m_behind;
    std::timed_mutex m_turn; ///< held while the user is asked
    std::mutex m_mutex;      ///< guards the next two
    std::map<QString, Secret> m_known;
    std::set<QString> m_trusted; ///< keys that the user has trusted, by name and fingerprint
};

/// Text of a host, fit to be shown: one line, nothing that steers a terminal.
[[nodiscard]] QString plainLine(const QString& text);

} // namespace knobscope
