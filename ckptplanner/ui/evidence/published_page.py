from PySide6.QtWidgets import QWidget


class PublishedPage(QWidget):
    def show_theme(self, theme): ...
    picture = None
