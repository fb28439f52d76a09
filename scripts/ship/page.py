"""Puts what was typed into a page: page.py PAGE FOLDER. FOLDER has a file for each section, and the page a place for each,

    <!-- typed: NAME -->
    <!-- end -->

whose lines are replaced. Sections that were not typed this time stay as they are; one without a place is an error.
"""

import pathlib
import re
import sys

page, folder = map(pathlib.Path, sys.argv[1:])
text = page.read_text()
for section in sorted(folder.iterdir()):
    place = re.compile(rf"(<!-- typed: {re.escape(section.name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    said = section.read_text().rstrip("\n")
    text, places = place.subn(lambda match: f"{match[1]}\n```\n{said}\n```\n\n{match[2]}", text)
    if places != 1:
        sys.exit(f"{page}: {places} places for the section {section.name}")
page.write_text(text)
