import { describe, expect, it } from 'vitest';
import { createSizeCap, type SizeCap } from '../../src/deliver/size-cap.ts';

const createCap = () => createSizeCap({ info() {} });

/** As a destination that takes at most so many bytes; returns the number of 413s. */
function send(cap: SizeCap, requests: number, wantedBytes: number, limitBytes: number): number {
  let refused = 0;
  for (let sent = 0; sent < requests; sent += 1) {
    const bytes = Math.min(wantedBytes, cap.bytes);
    if (bytes <= limitBytes) cap.noteAccepted(bytes);
    else {
      refused += 1;
      cap.noteTooLarge(bytes);
    }
  }
  return refused;
}

describe('the size of requests', () => {
  it('halves with a 413, and doubles with the fourth accepted request near it', () => {
    const cap = createCap();
    cap.noteTooLarge(4000);
    cap.noteTooLarge(2000);
    expect(cap.bytes).toBe(1000);
    for (let near = 0; near < 7; near += 1) cap.noteAccepted(501);
    for (let small = 0; small < 100; small += 1) cap.noteAccepted(500);
    expect(cap.bytes).toBe(1000);
    cap.noteAccepted(501);
    expect(cap.bytes).toBe(2000);
  });

  it('is unlimited again once it has passed what was refused', () => {
    const cap = createCap();
    cap.noteTooLarge(1000);
    expect(cap.bytes).toBe(500);
    for (let near = 0; near < 4; near += 1) cap.noteAccepted(300);
    expect(cap.bytes).toBe(1000);
    for (let near = 0; near < 4; near += 1) cap.noteAccepted(600);
    expect(cap.bytes).toBe(Number.POSITIVE_INFINITY);
  });

  it('never falls below what was accepted', () => {
    const cap = createCap();
    cap.noteAccepted(900);
    cap.noteTooLarge(900);
    expect(cap.bytes).toBe(Number.POSITIVE_INFINITY);
    cap.noteTooLarge(1000);
    expect(cap.bytes).toBe(900);
  });

  it('tests a lasting limit more and more rarely', () => {
    const cap = createCap();
    expect(send(cap, 100, 100_000, 30_000)).toBeLessThan(10);
    expect(send(cap, 10_000, 100_000, 30_000)).toBeLessThan(20);
    expect(cap.bytes).toBeGreaterThan(15_000);
  });
});
