// SPDX-License-Identifier: GPL-3.0-or-later
// The program for which the headers of the tests are compiled, once for all of them.
int main() {
    return 0;
}
