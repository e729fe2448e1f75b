"""`python -m bot` is the command `gpu-quota-bot`."""

from bot.cli import main

if __name__ == "__main__":
    main()
