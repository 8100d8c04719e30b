// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/strictjson.h"

#include <set>
#include <string>
#include <vector>

namespace knobscope {

namespace {

constexpr int kMaxDepth = 32;

/// Thrown through the parser, which has no other way to be stopped; caught in parseStrictJson.
struct Stop {
    QString message;
};

/// Follows the parser's events to know the path, and stops at what JSON itself allows.
class Watcher {
public:
    bool operator()(int, Json::parse_event_t event, Json& parsed) {
        using Event = Json::parse_event_t;
        switch (event) {
        case Event::object_start:
        case Event::array_start:
            countItem();
            if (m_frames.size() >= kMaxDepth)
                throw Stop{QStringLiteral("%1: nested too deeply.").arg(path())};
            m_frames.emplace_back().object = event == Event::object_start;
            break;
        case Event::object_end:
        case Event::array_end:
            m_frames.pop_back();
            break;
        case Event::key: {
            Frame& frame = m_frames.back();
            frame.key = parsed.get<std::string>();
            if (!frame.seen.insert(frame.key).second)
                throw Stop{QStringLiteral("%1: this key is there twice.").arg(path())};
            break;
        }
        case Event::value:
            countItem();
            break;
        }
        return true;
    }

    [[nodiscard]] QString path() const {
        QString text;
        for (const Frame& frame : m_frames) {
            if (!frame.object)
                text += QStringLiteral("[%1]").arg(std::max(frame.items - 1, 0));
            else if (!frame.key.empty())
                text += (text.isEmpty() ? QString() : QStringLiteral(".")) +
                        QString::fromStdString(frame.key).left(60);
        }
        return text.isEmpty() ? QStringLiteral("the document") : text;
    }

private:
    struct Frame {
        bool object = false;
        int items = 0;   ///< of an array, begun so far
        std::string key; ///< of an object, the latest
        std::set<std::string> seen;
    };

    void countItem() {
        if (!m_frames.empty() && !m_frames.back().object)
            ++m_frames.back().items;
    }

    std::vector<Frame> m_frames;
};

/// The parser's text without its own name and position.
QString reasonOf(const Json::exception& error) {
    QString text = QString::fromUtf8(error.what());
    const qsizetype bracket = text.indexOf(QLatin1String("] "));
    text = text.mid(bracket < 0 ? 0 : bracket + 2);
    const qsizetype column = text.indexOf(QLatin1String("column "));
    const qsizetype colon = column < 0 ? -1 : text.indexOf(QLatin1String(": "), column);
    text = colon < 0 ? text : text.mid(colon + 2);
    // It repeats what it read, however long.
    constexpr qsizetype kMost = 200;
    return text.size() > kMost ? text.left(kMost) + QStringLiteral("...") : text;
}

/// `byte` counts from 1 and points at the last character that was read. Columns count characters.
QString positionOf(const QByteArray& text, std::size_t byte) {
    const auto before = text.left(static_cast<qsizetype>(byte > 0 ? byte - 1 : 0));
    const auto line = before.count('\n') + 1;
    const auto column = QString::fromUtf8(before.mid(before.lastIndexOf('\n') + 1)).size() + 1;
    return QStringLiteral("line %1, column %2").arg(line).arg(column);
}

} // namespace

Result<Json> parseStrictJson(const QByteArray& text) {
    if (text.trimmed().isEmpty())
        return fail(Error::Code::BadInput, QStringLiteral("The file is empty."));
    // The parser takes a NUL for the end and would not look at what follows.
    if (const qsizetype nul = text.indexOf('\0'); nul >= 0)
        return fail(Error::Code::BadInput,
                    QStringLiteral("%1: a NUL byte: this is no JSON text.")
                        .arg(positionOf(text, static_cast<std::size_t>(nul) + 1)));
    Watcher watcher;
    try {
        return Json::parse(text.begin(), text.end(), std::ref(watcher));
    } catch (const Stop& stop) {
        return fail(Error::Code::BadInput, stop.message);
    } catch (const Json::parse_error& error) {
        return fail(Error::Code::BadInput,
                    QStringLiteral("%1: %2").arg(positionOf(text, error.byte), reasonOf(error)));
    } catch (const Json::exception& error) {
        return fail(Error::Code::BadInput,
                    QStringLiteral("%1: %2").arg(watcher.path(), reasonOf(error)));
    }
}

} // namespace knobscope
