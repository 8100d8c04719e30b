// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/figure/curvefigure.h"

#include <QDialog>

class QComboBox;
class QDialogButtonBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace knobscope {

/// Asks for file, format and style of a figure and writes it. Stays open with the reason when it
/// cannot be written.
class FigureDialog : public QDialog {
    Q_OBJECT
public:
    FigureDialog(CurveSet curves, const QString& suggestedPath, QWidget* parent = nullptr);

    /// Asks first where the file is there already.
    void accept() override;

signals:
    void exported(const QString& path);

private:
    void build();
    void followStyle();
    void followFormat();
    void browse();
    void write(const QString& path);
    [[nodiscard]] FigureStyle style() const;

    CurveSet m_curves;
    QString m_replaceable; ///< the file dialog has asked about this one
    QLineEdit* m_path;
    QComboBox* m_format;
    QComboBox* m_style;
    QDoubleSpinBox* m_width;
    QDoubleSpinBox* m_height;
    QDoubleSpinBox* m_font;
    QLabel* m_error;
};

/// Asks for the folder of a CSV export; the writing is the caller's, in the background.
class CsvDialog : public QDialog {
    Q_OBJECT
public:
    explicit CsvDialog(const QString& suggestedFolder, QWidget* parent = nullptr);

signals:
    void chosen(const QString& folder);

private:
    void browse();
    void follow();

    QLineEdit* m_folder;
    QLabel* m_replaced;
    QPushButton* m_write = nullptr;
    QPushButton* m_cancel = nullptr;
};

} // namespace knobscope
