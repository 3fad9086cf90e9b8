import { hash } from 'node:crypto';

/** Hexadecimal digits of the hash that count: 60 bits. */
const DIGITS = 15;
/** As a double, which clients divide by too. */
const LARGEST = Number.parseInt('f'.repeat(DIGITS), 16);

/**
 * Where an identifier falls between 0 and 1: the same in every client and server of the service. The first 15
 * hexadecimal digits of SHA-1, divided by the largest number of that length.
 * https://github.com/PostHog/posthog-python/blob/master/posthog/feature_flags.py
 */
const toShare = (text: string): number => Number.parseInt(hash('sha1', text).slice(0, DIGITS), 16) / LARGEST;

export const hashForRollout = (flagKey: string, identifier: string): number =>
  toShare(`${flagKey}.${identifier}`);

export const hashForVariant = (flagKey: string, identifier: string): number =>
  toShare(`${flagKey}.${identifier}variant`);

/** The same for every flag, so that whoever is kept out of one experiment is kept out of all. */
export const hashForHoldout = (identifier: string): number => toShare(`holdout-${identifier}`);
