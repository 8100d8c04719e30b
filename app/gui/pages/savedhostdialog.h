// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/savedhosts.h"

#include <QDialog>
#include <QMap>

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace knobscope {

/// A form for one saved host. It closes with a host that can be saved, or with none.
class SavedHostDialog : public QDialog {
    Q_OBJECT
public:
    /// `host` empty: a new one. `others`: names that are taken.
    SavedHostDialog(const std::optional<SavedHost>& host, QStringList others,
                    QWidget* parent = nullptr);

    [[nodiscard]] SavedHost host() const;
    void accept() override;

private:
    QLineEdit* addField(QFormLayout* form, const char* field, const QString& label,
                        const QString& placeholder, const QString& tip);
    void addError(QFormLayout* form, const char* field);
    void addKey(QFormLayout* form);
    void show(const SavedHost& host);

    QStringList m_others;
    QMap<QString, QLineEdit*> m_edits; ///< by the field's name in the file
    QMap<QString, QLabel*> m_errors;
    QSpinBox* m_port;
    QComboBox* m_sudo;
};

} // namespace knobscope
