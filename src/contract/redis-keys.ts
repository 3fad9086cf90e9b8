/**
 * Run id of a Redis that was stopped in order and has everything on disk. Whoever starts the next one
 * on the same files puts it there; counts kept by the old one are then not lost but continued.
 */
export const CLEAN_STOP_KEY = '{bh}:clean-stop';
