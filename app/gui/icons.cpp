// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/icons.h"

#include "app/gui/looks.h"

#include <QFile>
#include <QGuiApplication>
#include <QPainter>
#include <QSvgRenderer>

namespace knobscope {
namespace {

QPixmap drawn(const QByteArray& svg, int size) {
    QPixmap pixmap(size, size);
    pixmap.fill(Qt::transparent);
    QSvgRenderer renderer(svg);
    QPainter painter(&pixmap);
    renderer.render(&painter);
    return pixmap;
}

} // namespace

/// On dark windows the strokes of the files are too dark: lighter ones stand in for them.
QIcon icon(const char* name) {
    const QString path = QStringLiteral(":/knobscope/icons/%1.svg").arg(QLatin1String(name));
    QFile file(path);
    if (!isDark(QGuiApplication::palette()) || qstrcmp(name, "knobscope") == 0 ||
        !file.open(QIODevice::ReadOnly))
        return QIcon(path);
    QByteArray picture = file.readAll();
    picture.replace("#3d6ea5", "#8ab8ea");
    picture.replace("#7a7a7a", "#c0c0c0");
    picture.replace("#2e8b57", "#4fc483");
    picture.replace("#c43c3c", "#f07070");
    QIcon light;
    for (const int size : {16, 24, 32, 48})
        light.addPixmap(drawn(picture, size));
    return light;
}

} // namespace knobscope
