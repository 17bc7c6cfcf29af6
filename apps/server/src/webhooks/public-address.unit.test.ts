import { describe, expect, test } from 'vitest';
import { createAddressCheck, isLoopback } from './public-address.ts';

const isPublic = createAddressCheck({ allowLoopback: false });

const inside = `
  0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1
  127.255.255.254 168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1
  192.31.196.1 192.52.193.1 192.88.99.1 192.168.1.1 192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.7
  203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::7f00:1
  ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 100::1
  2001::1 2001:0:7f00:1:: 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1:: 2002:a00:1::1 2620:4f:8000::1
  3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1 2606:4700::1111%eth0 localhost
  1 127.1 0x7f000001 1.2.3.4.5`
  .trim()
  .split(/\s+/);
const outside = `
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.0 126.255.255.255 168.63.129.15
  172.15.255.255 172.32.0.0 192.0.1.1 198.17.255.255 223.255.255.255 2606:4700:4700::1111
  2a00:1450:4001:81b::200e 2001:4860:4860::8888 2003::1 3ffe::1`
  .trim()
  .split(/\s+/);

describe('an address', () => {
  test.each([...inside, ''])('%j is not public', (address) => {
    expect(isPublic(address)).toBe(false);
  });

  test.each(outside)('%j is public', (address) => {
    expect(isPublic(address)).toBe(true);
  });

  test('of this machine is allowed for development, and no other', () => {
    const isAllowed = createAddressCheck({ allowLoopback: true });
    const loopback = ['127.0.0.1', '127.255.255.254', '::1'];
    expect(inside.filter(isAllowed).toSorted()).toEqual(loopback.toSorted());
    expect(inside.filter(isLoopback).toSorted()).toEqual(loopback.toSorted());
  });
});
