-- A counter in a reference. modifyIORef leaves a chain of unevaluated additions, which
-- fill the heap, and then the stack as they are forced; modifyIORef' adds at once.
module Main (main) where

import Control.Monad (forM_)
import Data.IORef
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  let modify = if how == "lazy" then modifyIORef else modifyIORef'
  counter <- newIORef 0
  forM_ [1 .. 1500000 :: Integer] (\i -> modify counter (+ i))
  readIORef counter >>= print
