"""One running Muntin a data folder: a second start raises the window of the first."""

import getpass
import hashlib
import os
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

CONNECT_MS: Final = 300


def ask_running_instance(root: Path) -> bool:
    """Ask a Muntin that runs on this data folder to come to the front; return whether there is one."""
    socket = QLocalSocket()
    socket.connectToServer(_server_name(root))
    if not socket.waitForConnected(CONNECT_MS):
        return False
    # To connect is to ask; the other side may hang up as soon as it has heard.
    socket.disconnectFromServer()
    return True


class InstanceServer(QObject):
    """Listens for second starts."""

    raise_requested = Signal()

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._greet)
        name = _server_name(root)
        if not self._server.listen(name) and not ask_running_instance(root):
            # What a killed process left behind.
            QLocalServer.removeServer(name)
            self._server.listen(name)

    def close(self) -> None:
        """Listen no longer."""
        self._server.close()

    @Slot()
    def _greet(self) -> None:
        while (connection := self._server.nextPendingConnection()) is not None:
            connection.disconnected.connect(connection.deleteLater)
            connection.disconnectFromServer()
            self.raise_requested.emit()


def _server_name(root: Path) -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        # An account without a name, as in a container.
        user = str(os.getuid()) if hasattr(os, "getuid") else ""
    where = f"{user}\0{root.resolve()}"
    return f"muntin-{hashlib.sha256(where.encode()).hexdigest()[:20]}"
